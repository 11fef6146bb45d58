//! A certificate authority of a test's own, and what servers need to speak for a name.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// An authority that nobody trusts unless a configuration says so.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// The certificate and the key of a server, in PEM.
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Its certificate in PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Who a server is that has `name`, which may be an address.
    pub fn identity(&self, name: &str) -> Identity {
        self.certify(CertificateParams::new(vec![name.to_owned()]).unwrap())
    }

    /// The same, with a time that is over.
    pub fn expired(&self, name: &str) -> Identity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
        self.certify(params)
    }

    fn certify(&self, params: CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        Identity { certificate: params.signed_by(&key, &self.0).unwrap().pem(), key: key.serialize_pem() }
    }
}

impl Identity {
    /// Ready to serve.
    pub fn config(&self) -> Arc<ServerConfig> {
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        Arc::new(config)
    }
}
