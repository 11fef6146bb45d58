//! Sends the requests that it is told to send, by the HTTP of WASI.

use ringfence_sdk::prelude::*;
use ringfence_sdk::serde_json::{Value, json};

mod bindings {
    wit_bindgen::generate!({
        path: ["wit/io.wit", "wit/clocks.wit", "wit/http.wit"],
        inline: "package ringfence:guests;
            world wasi-fetcher { import wasi:http/outgoing-handler@0.2.0; }",
        generate_all,
    });
}

use bindings::wasi::http::outgoing_handler::handle;
use bindings::wasi::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingBody, IncomingResponse, Method, OutgoingBody, OutgoingRequest,
    RequestOptions, Scheme,
};
use bindings::wasi::io::streams::{InputStream, OutputStream, StreamError};

/// What WASI lets be written at once.
const PIECE: usize = 4096;

#[derive(Deserialize, JsonSchema)]
struct Fetch {
    /// The method, in capitals.
    method: String,
    /// The URL.
    url: String,
    /// Names and values.
    #[serde(default)]
    headers: Vec<(String, String)>,
    /// The body.
    #[serde(default)]
    body: Option<String>,
    /// What is done at the end of the body.
    #[serde(default)]
    end: End,
    /// What is done with the response's body.
    #[serde(default)]
    read: Read,
    /// Timeouts in milliseconds: for the connection, the first byte, between bytes.
    #[serde(default)]
    timeouts: [Option<u64>; 3],
    /// How often, if more than once.
    #[serde(default)]
    times: Option<u32>,
}

#[derive(Deserialize, JsonSchema, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
enum End {
    /// Says that it is whole.
    #[default]
    Finish,
    /// Says so, with a trailer.
    Trailers,
    /// Gives it up.
    Drop,
    /// Goes on holding it.
    Hold,
    /// Traps.
    Trap,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
enum Read {
    /// Gives it back.
    #[default]
    All,
    /// Counts its bytes.
    Count,
    /// Drops it unread.
    Nothing,
}

/// Sends a request and gives back what came, or the error code.
#[tool]
fn fetch(args: Fetch) -> Json<Value> {
    let fetched = (1..args.times.unwrap_or(1)).try_for_each(|_| fetched(&args).map(drop)).and_then(|()| fetched(&args));
    Json(fetched.unwrap_or_else(|error| json!({ "error": error })))
}

fn fetched(args: &Fetch) -> Result<Value, String> {
    let request = request(&args.method, &args.url, &args.headers)?;
    // As clients do: a request without a body has no stream for one.
    let body = args.body.as_ref().map(|text| Ok::<_, String>((request.body().map_err(|()| "no body")?, text)));
    let body = body.transpose()?;
    let future = handle(request, Some(options(args.timeouts))).map_err(code)?;
    let held = body.map(|(body, text)| write(body, text.as_bytes(), &args.end)).transpose()?;
    let response = response(&future)?;
    drop(held);
    let (status, headers) = (response.status(), entries(&response.headers()));
    let (body, trailers) = read(response, &args.read)?;
    Ok(json!({"status": status, "headers": headers, "body": body, "trailers": trailers}))
}

fn request(method: &str, url: &str, headers: &[(String, String)]) -> Result<OutgoingRequest, String> {
    let fields = Fields::new();
    for (name, value) in headers {
        fields.append(name, value.as_bytes()).map_err(|error| format!("{error:?}"))?;
    }
    let request = OutgoingRequest::new(fields);
    let (scheme, rest) = url.split_once("://").ok_or("no URL")?;
    let scheme = match scheme {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.into()),
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let method = match method {
        "GET" => Method::Get,
        "POST" => Method::Post,
        other => Method::Other(other.into()),
    };
    request.set_method(&method).map_err(|()| "not a method")?;
    request.set_scheme(Some(&scheme)).map_err(|()| "not a scheme")?;
    request.set_authority(Some(authority)).map_err(|()| "not an authority")?;
    request.set_path_with_query(Some(path)).map_err(|()| "not a path")?;
    Ok(request)
}

fn options([connect, first_byte, between_bytes]: [Option<u64>; 3]) -> RequestOptions {
    let (options, nanos) = (RequestOptions::new(), |ms: Option<u64>| ms.map(|ms| ms * 1_000_000));
    let _ = options.set_connect_timeout(nanos(connect));
    let _ = options.set_first_byte_timeout(nanos(first_byte));
    let _ = options.set_between_bytes_timeout(nanos(between_bytes));
    options
}

/// Writes a body and ends it; gives it back where it is to be held.
fn write(body: OutgoingBody, bytes: &[u8], end: &End) -> Result<Option<OutgoingBody>, String> {
    let stream = body.write().map_err(|()| "no stream")?;
    // Whoever is refused does not take the body; the response says why.
    let _ = write_pieces(&stream, bytes);
    drop(stream);
    match end {
        End::Finish => OutgoingBody::finish(body, None).map_err(code)?,
        End::Trailers => {
            let trailers = Fields::new();
            trailers.append("x-sum", b"1").map_err(|error| format!("{error:?}"))?;
            OutgoingBody::finish(body, Some(trailers)).map_err(code)?;
        }
        End::Drop => drop(body),
        End::Hold => return Ok(Some(body)),
        End::Trap => std::process::abort(),
    }
    Ok(None)
}

fn write_pieces(stream: &OutputStream, bytes: &[u8]) -> Result<(), StreamError> {
    bytes.chunks(PIECE).try_for_each(|piece| stream.blocking_write_and_flush(piece))
}

fn response(future: &FutureIncomingResponse) -> Result<IncomingResponse, String> {
    future.subscribe().block();
    future.get().ok_or("not ready")?.map_err(|()| "taken")?.map_err(code)
}

fn read(response: IncomingResponse, how: &Read) -> Result<(Value, Value), String> {
    let body = response.consume().map_err(|()| "no body")?;
    let stream = body.stream().map_err(|()| "no stream")?;
    let (mut all, mut count) = (Vec::new(), 0);
    match how {
        Read::Nothing => return Ok((Value::Null, Value::Null)),
        Read::All => while next(&stream, |piece| all.extend_from_slice(piece))? {},
        Read::Count => while next(&stream, |piece| count += piece.len())? {},
    }
    drop(stream);
    let trailers = IncomingBody::finish(body);
    trailers.subscribe().block();
    let trailers = trailers.get().ok_or("not ready")?.map_err(|()| "taken")?.map_err(code)?;
    let value = if count > 0 { json!(count) } else { json!(String::from_utf8_lossy(&all)) };
    Ok((value, trailers.map_or(Value::Null, |fields| json!(entries(&fields)))))
}

/// Whether there was a next piece.
fn next(stream: &InputStream, mut each: impl FnMut(&[u8])) -> Result<bool, String> {
    match stream.blocking_read(1 << 16) {
        Ok(piece) => {
            each(&piece);
            Ok(true)
        }
        Err(StreamError::Closed) => Ok(false),
        Err(StreamError::LastOperationFailed(error)) => Err(error.to_debug_string()),
    }
}

fn entries(fields: &Fields) -> Vec<(String, String)> {
    fields.entries().into_iter().map(|(name, value)| (name, String::from_utf8_lossy(&value).into_owned())).collect()
}

fn code(code: ErrorCode) -> String {
    format!("{code:?}")
}

#[derive(Deserialize, JsonSchema)]
struct Several {
    /// The URLs.
    urls: Vec<String>,
    /// Of which of them, by place, the request has a body.
    #[serde(default)]
    with_body: Vec<usize>,
}

/// Sends a request to each before it waits for any answer, waits for the last one first, and gives back the statuses.
#[tool]
fn fetch_several(args: Several) -> Json<Value> {
    Json(fetched_at_once(&args).map_or_else(|error| json!({ "error": error }), |statuses| json!(statuses)))
}

fn fetched_at_once(args: &Several) -> Result<Vec<u16>, String> {
    let send = |(place, url): (usize, &String)| {
        let has_body = args.with_body.contains(&place);
        let request = request(if has_body { "POST" } else { "GET" }, url, &[])?;
        let body = has_body.then(|| request.body().map_err(|()| "no body")).transpose()?;
        let future = handle(request, None).map_err(code)?;
        body.map(|body| write(body, b"body", &End::Finish)).transpose()?;
        Ok::<_, String>(future)
    };
    let futures = args.urls.iter().enumerate().map(send).collect::<Result<Vec<_>, _>>()?;
    futures.iter().rev().map(|future| Ok(response(future)?.status())).collect()
}

#[derive(Deserialize, JsonSchema)]
struct Converse {
    /// The URL.
    url: String,
    /// What is said, one after the other.
    lines: Vec<String>,
}

/// Says each line in one request, and waits for the answer to it before the next.
#[tool]
fn converse(args: Converse) -> Json<Value> {
    Json(conversed(&args).map_or_else(|error| json!({ "error": error }), |answers| json!(answers)))
}

fn conversed(args: &Converse) -> Result<Vec<String>, String> {
    let request = request("POST", &args.url, &[])?;
    let up = request.body().map_err(|()| "no body")?;
    let future = handle(request, None).map_err(code)?;
    let writer = up.write().map_err(|()| "no stream")?;
    let response = response(&future)?;
    let down = response.consume().map_err(|()| "no body")?;
    let reader = down.stream().map_err(|()| "no stream")?;
    let mut answers = Vec::new();
    for line in &args.lines {
        write_pieces(&writer, line.as_bytes()).map_err(|error| format!("{error:?}"))?;
        let mut answer = String::new();
        while answer.len() < line.len() && next(&reader, |piece| answer += &String::from_utf8_lossy(piece))? {}
        answers.push(answer);
    }
    drop(writer);
    OutgoingBody::finish(up, None).map_err(code)?;
    Ok(answers)
}

export_tools!(fetch, fetch_several, converse);
