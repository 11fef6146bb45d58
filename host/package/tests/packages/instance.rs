//! A sigstore instance of a test's own: an authority that certifies, a log of what it certified, and one of what was signed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, CustomExtension, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, PublicKeyData as _, SanType, SerialNumber, SigningKey as _, date_time_ymd,
};
use ringfence_store::{Digest, unix_milliseconds};
use serde_json::{Value, json};

/// Where a certificate names the issuer, and where it has the record of its issue.
const ISSUER: &[u64] = &[1, 3, 6, 1, 4, 1, 57264, 1, 8];
const RECORDS: &[u64] = &[1, 3, 6, 1, 4, 1, 11129, 2, 4, 2];

/// What DER calls an octet string and a text.
const OCTETS: u8 = 0x04;
const TEXT: u8 = 0x0c;

/// An authority and its two logs.
pub struct Instance {
    root: CertifiedIssuer<'static, KeyPair>,
    authority: CertifiedIssuer<'static, KeyPair>,
    certificates: KeyPair,
    signatures: KeyPair,
}

/// Who signs, and what of it is done as nobody should.
#[derive(Clone, Copy)]
pub struct Signing<'a> {
    /// An e-mail address, or a URI.
    pub subject: &'a str,
    /// Who says so.
    pub issuer: &'a str,
    /// Whether the certificate is on record.
    pub recorded: bool,
    /// Whether it is one for signing code.
    pub for_code: bool,
    /// Seconds from the beginning of its ten minutes to when the log saw the signature.
    pub logged_after: i64,
}

impl<'a> Signing<'a> {
    /// As it should be.
    pub fn by(subject: &'a str, issuer: &'a str) -> Self {
        Self { subject, issuer, recorded: true, for_code: true, logged_after: 60 }
    }
}

impl Instance {
    pub fn new() -> Self {
        let params = |purposes: Vec<ExtendedKeyUsagePurpose>| {
            let mut params = CertificateParams::default();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
            params.extended_key_usages = purposes;
            params
        };
        let key = || KeyPair::generate().unwrap();
        let root = CertifiedIssuer::self_signed(params(Vec::new()), key()).unwrap();
        let between = params(vec![ExtendedKeyUsagePurpose::CodeSigning]);
        let authority = CertifiedIssuer::signed_by(between, key(), &root).unwrap();
        Self { root, authority, certificates: key(), signatures: key() }
    }

    /// Its `trusted_root.json`.
    pub fn trusted_root(&self) -> Value {
        let since = json!({"start": "2020-01-01T00:00:00Z"});
        let log = |key: &KeyPair| {
            json!([{
                "baseUrl": "https://log.example.com",
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": base64(&key.subject_public_key_info()),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": since,
                },
                "logId": {"keyId": base64(id(key).as_bytes())},
            }])
        };
        let chain = [self.authority.der(), self.root.der()].map(|der| json!({"rawBytes": base64(der)}));
        json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": log(&self.signatures),
            "certificateAuthorities": [{
                "subject": {"organization": "example", "commonName": "example"},
                "uri": "https://authority.example.com",
                "certChain": {"certificates": chain},
                "validFor": since,
            }],
            "ctlogs": log(&self.certificates),
            "timestampAuthorities": [],
        })
    }

    /// The bundle of `artifact`, signed with a key that lives for that.
    pub fn sign(&self, artifact: &[u8], signing: Signing<'_>) -> Value {
        let key = KeyPair::generate().unwrap();
        let begins = i64::try_from(unix_milliseconds() / 1000).unwrap() - 600;
        let certificate = self.certify(&key, &signing, begins);
        let signature = key.sign(artifact).unwrap();
        let (digest, spelt) = (base64(Digest::of(artifact).as_bytes()), Digest::of(artifact).to_string());
        let body = json!({
            "apiVersion": "0.0.1",
            "kind": "hashedrekord",
            "spec": {
                "data": {"hash": {"algorithm": "sha256", "value": spelt}},
                "signature": {
                    "content": base64(&signature),
                    "publicKey": {"content": base64(certificate.pem().as_bytes())},
                },
            },
        });
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": {"rawBytes": base64(certificate.der())},
                "tlogEntries": [self.entry(body.to_string().as_bytes(), begins + signing.logged_after)],
            },
            "messageSignature": {
                "messageDigest": {"algorithm": "SHA2_256", "digest": digest},
                "signature": base64(&signature),
            },
        })
    }

    /// The certificate of `key`, with the record of its issue in it: that is of the certificate without.
    fn certify(&self, key: &KeyPair, signing: &Signing<'_>, begins: i64) -> Certificate {
        let epoch = date_time_ymd(1970, 1, 1);
        let seconds = |seconds: i64| std::time::Duration::from_secs(seconds.unsigned_abs());
        let mut params = CertificateParams::default();
        (params.not_before, params.not_after) = (epoch + seconds(begins), epoch + seconds(begins + 600));
        params.serial_number = Some(SerialNumber::from(begins.unsigned_abs()));
        let subject = signing.subject.try_into().unwrap();
        let is_uri = signing.subject.contains("://");
        params.subject_alt_names = vec![if is_uri { SanType::URI(subject) } else { SanType::Rfc822Name(subject) }];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let purpose =
            if signing.for_code { ExtendedKeyUsagePurpose::CodeSigning } else { ExtendedKeyUsagePurpose::ServerAuth };
        params.extended_key_usages = vec![purpose];
        let issuer = der(TEXT, signing.issuer.as_bytes());
        params.custom_extensions = vec![CustomExtension::from_oid_content(ISSUER, issuer)];
        if signing.recorded {
            let bare = params.signed_by(key, &self.authority).unwrap();
            let records = der(OCTETS, &self.records(inside(bare.der()), begins));
            params.custom_extensions.push(CustomExtension::from_oid_content(RECORDS, records));
        }
        params.signed_by(key, &self.authority).unwrap()
    }

    /// The record of a certificate of which `bare` begins with what is signed, as RFC 6962 lays it out.
    fn records(&self, bare: &[u8], begins: i64) -> Vec<u8> {
        let issued_at = (begins.unsigned_abs() * 1000).to_be_bytes();
        let bare = &bare[..whole(bare)];
        let issuer = Digest::of(&self.authority.key().subject_public_key_info());
        let length = u32::try_from(bare.len()).unwrap().to_be_bytes();
        let signed = [&[0, 0], &issued_at[..], &[0, 1], issuer.as_bytes(), &length[1..], bare, &[0, 0]].concat();
        let signature = self.certificates.sign(&signed).unwrap();
        let record = [&[0], &id(&self.certificates).as_bytes()[..], &issued_at, &[0, 0, 4, 3]].concat();
        sized(&sized(&[record, sized(&signature)].concat()))
    }

    /// The entry of `body` in the log of signatures, which has one more.
    fn entry(&self, body: &[u8], at: i64) -> Value {
        let leaf = Digest::of(&[&[0], body].concat());
        let other = Digest::of(b"\0another entry");
        let tree = Digest::of(&[&[1], &leaf.as_bytes()[..], other.as_bytes()].concat());
        let log = id(&self.signatures);
        let head = format!("log.example.com - 1\n2\n{}\n", base64(tree.as_bytes()));
        let signature = [&log.as_bytes()[..4], &self.signatures.sign(head.as_bytes()).unwrap()].concat();
        let promised = json!({"body": base64(body), "integratedTime": at, "logID": log.to_string(), "logIndex": 7});
        json!({
            "logIndex": "7",
            "logId": {"keyId": base64(log.as_bytes())},
            "kindVersion": {"kind": "hashedrekord", "version": "0.0.1"},
            "integratedTime": at.to_string(),
            "inclusionPromise": {
                "signedEntryTimestamp": base64(&self.signatures.sign(promised.to_string().as_bytes()).unwrap()),
            },
            "inclusionProof": {
                "logIndex": "0",
                "rootHash": base64(tree.as_bytes()),
                "treeSize": "2",
                "hashes": [base64(other.as_bytes())],
                "checkpoint": {"envelope": format!("{head}\n\u{2014} log.example.com {}\n", base64(&signature))},
            },
            "canonicalizedBody": base64(body),
        })
    }
}

/// What a log is called: the digest of its key.
fn id(log: &KeyPair) -> Digest {
    Digest::of(&log.subject_public_key_info())
}

fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// `bytes` behind their length in two.
fn sized(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

/// An element of DER that is shorter than 256 bytes.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).unwrap();
    let head = if length < 0x80 { vec![tag, length] } else { vec![tag, 0x81, length] };
    [head, content.to_vec()].concat()
}

/// How long the head of the element is with which `der` begins, and its content.
fn lengths(der: &[u8]) -> (usize, usize) {
    match der[1] {
        short if short < 0x80 => (2, short.into()),
        long => {
            let bytes = usize::from(long & 0x7f);
            (2 + bytes, der[2..2 + bytes].iter().fold(0, |length, byte| length << 8 | usize::from(*byte)))
        }
    }
}

/// What is in the element with which `der` begins.
fn inside(der: &[u8]) -> &[u8] {
    &der[lengths(der).0..]
}

/// How long the whole element is with which `der` begins.
fn whole(der: &[u8]) -> usize {
    let (head, content) = lengths(der);
    head + content
}
