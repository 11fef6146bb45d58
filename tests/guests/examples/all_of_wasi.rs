//! Asks WASI for what lies outside of its instance: files, arguments, input, connections, names.

use ringfence_sdk::prelude::*;
use ringfence_sdk::serde_json::{Value, json};

mod bindings {
    wit_bindgen::generate!({
        path: ["wit/io.wit", "wit/clocks.wit", "wit/cli.wit", "wit/filesystem.wit", "wit/sockets.wit"],
        inline: "package ringfence:guests;
            world all-of-wasi {
                import wasi:cli/environment@0.2.0;
                import wasi:cli/stdin@0.2.0;
                import wasi:cli/stdout@0.2.0;
                import wasi:cli/stderr@0.2.0;
                import wasi:filesystem/preopens@0.2.0;
                import wasi:sockets/instance-network@0.2.0;
                import wasi:sockets/ip-name-lookup@0.2.0;
                import wasi:sockets/tcp-create-socket@0.2.0;
                import wasi:sockets/udp-create-socket@0.2.0;
            }",
        generate_all,
    });
}

use bindings::wasi::cli::{environment, stderr, stdin, stdout};
use bindings::wasi::filesystem::preopens::get_directories;
use bindings::wasi::io::streams::OutputStream;
use bindings::wasi::sockets::instance_network::instance_network;
use bindings::wasi::sockets::ip_name_lookup::resolve_addresses;
use bindings::wasi::sockets::network::{ErrorCode, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress};
use bindings::wasi::sockets::tcp_create_socket::create_tcp_socket;
use bindings::wasi::sockets::udp::OutgoingDatagram;
use bindings::wasi::sockets::udp_create_socket::create_udp_socket;

/// What WASI lets be written at once.
const PIECE: usize = 4096;

#[derive(Deserialize, JsonSchema)]
struct Ask {
    /// For what.
    what: String,
    /// A port of this machine.
    #[serde(default)]
    port: u16,
    /// The name of a machine.
    #[serde(default)]
    name: String,
}

/// Asks for one of it and says what came, or the error code.
#[tool]
fn run(ask: Ask) -> Result<Json<Value>, Failure> {
    let code = |done: Result<(), ErrorCode>| json!(done.err().map(|code| code.name()));
    Ok(Json(match ask.what.as_str() {
        "directories" => json!(get_directories().into_iter().map(|(_, path)| path).collect::<Vec<_>>()),
        "arguments" => json!(environment::get_arguments()),
        "environment" => json!(environment::get_environment()),
        "cwd" => json!(environment::initial_cwd()),
        "input" => json!(stdin::get_stdin().blocking_read(100).ok()),
        "connection" => code(connect(ask.port)),
        "port" => code(listen()),
        "datagram" => code(send(ask.port)),
        "addresses" => code(look_up(&ask.name)),
        "output" => flood(&stdout::get_stdout()),
        "errors" => flood(&stderr::get_stderr()),
        other => return Err(Failure::invalid_params(format!("what is `{other}`?"))),
    }))
}

/// A port of this machine.
fn local(port: u16) -> IpSocketAddress {
    IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address: (127, 0, 0, 1) })
}

fn connect(port: u16) -> Result<(), ErrorCode> {
    let socket = create_tcp_socket(IpAddressFamily::Ipv4)?;
    socket.start_connect(&instance_network(), local(port))?;
    socket.subscribe().block();
    socket.finish_connect().map(drop)
}

fn listen() -> Result<(), ErrorCode> {
    let socket = create_tcp_socket(IpAddressFamily::Ipv4)?;
    socket.start_bind(&instance_network(), local(0))?;
    socket.finish_bind()?;
    socket.start_listen()?;
    socket.finish_listen()
}

fn send(port: u16) -> Result<(), ErrorCode> {
    let socket = create_udp_socket(IpAddressFamily::Ipv4)?;
    socket.start_bind(&instance_network(), local(0))?;
    socket.finish_bind()?;
    let (_, outgoing) = socket.stream(Some(local(port)))?;
    outgoing.subscribe().block();
    outgoing.check_send()?;
    outgoing.send(&[OutgoingDatagram { data: b"hello".to_vec(), remote_address: None }]).map(drop)
}

fn look_up(name: &str) -> Result<(), ErrorCode> {
    let addresses = resolve_addresses(&instance_network(), name)?;
    addresses.subscribe().block();
    addresses.resolve_next_address().map(drop)
}

/// Writes 100 MiB, if it may.
fn flood(stream: &OutputStream) -> Value {
    let piece = [b'x'; PIECE];
    let written = (0..(100 << 20) / PIECE).take_while(|_| stream.blocking_write_and_flush(&piece).is_ok()).count();
    json!(written)
}

export_tools!(run);
