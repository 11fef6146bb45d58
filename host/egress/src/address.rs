//! Addresses that are not connected to unless the operator grants them.
//!
//! The table is our own, from the IANA special-purpose address registries (RFC 6890) as of 2025: the standard
//! library's methods are unstable, and a crate would be trusted with the one table that everything depends on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use thiserror::Error;

/// A range that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedRange {
    /// The range.
    pub net: IpNet,
    /// What it is for.
    pub purpose: &'static str,
    /// Where that is written.
    pub source: &'static str,
}

/// The first that contains an address names it, so the narrow ones come first.
const REFUSED: &[RefusedRange] = &[
    v4([169, 254, 169, 254], 32, "cloud metadata", "AWS, Google Cloud, Azure"),
    v4([168, 63, 129, 16], 32, "cloud metadata", "Azure"),
    v4([100, 100, 100, 200], 32, "cloud metadata", "Alibaba Cloud"),
    v4([0, 0, 0, 0], 8, "this network", "RFC 791"),
    v4([10, 0, 0, 0], 8, "private", "RFC 1918"),
    v4([100, 64, 0, 0], 10, "shared by carriers", "RFC 6598"),
    v4([127, 0, 0, 0], 8, "loopback", "RFC 1122"),
    v4([169, 254, 0, 0], 16, "link-local", "RFC 3927"),
    v4([172, 16, 0, 0], 12, "private", "RFC 1918"),
    v4([192, 0, 0, 0], 24, "IETF protocol assignments", "RFC 6890"),
    v4([192, 0, 2, 0], 24, "documentation", "RFC 5737"),
    v4([192, 88, 99, 0], 24, "6to4 relays", "RFC 7526"),
    v4([192, 168, 0, 0], 16, "private", "RFC 1918"),
    v4([198, 18, 0, 0], 15, "benchmarking", "RFC 2544"),
    v4([198, 51, 100, 0], 24, "documentation", "RFC 5737"),
    v4([203, 0, 113, 0], 24, "documentation", "RFC 5737"),
    v4([224, 0, 0, 0], 4, "multicast", "RFC 1112"),
    v4([255, 255, 255, 255], 32, "broadcast", "RFC 919"),
    v4([240, 0, 0, 0], 4, "reserved", "RFC 1112"),
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128, "cloud metadata", "AWS"),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 128, "unspecified", "RFC 4291"),
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128, "loopback", "RFC 4291"),
    v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "IPv4-mapped", "RFC 4291"),
    v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, "IPv4-translated", "RFC 2765"),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 96, "IPv4-compatible", "RFC 4291"),
    v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, "NAT64", "RFC 6052"),
    v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "local NAT64", "RFC 8215"),
    v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64, "discard-only", "RFC 6666"),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "Teredo", "RFC 4380"),
    v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, "benchmarking", "RFC 5180"),
    v6([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28, "ORCHID", "RFC 4843"),
    v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28, "ORCHIDv2", "RFC 7343"),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "IETF protocol assignments", "RFC 2928"),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "documentation", "RFC 3849"),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4", "RFC 3056"),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "documentation", "RFC 9637"),
    v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, "segment routing (SRv6)", "RFC 9602"),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "unique local", "RFC 4193"),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "link-local", "RFC 4291"),
    v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, "site-local", "RFC 3879"),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "multicast", "RFC 4291"),
];

/// All of IPv6 outside of this is not assigned for global unicast (RFC 4291, 2.4 and IANA's registry).
const GLOBAL_UNICAST: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

const UNASSIGNED: RefusedRange = v6([0, 0, 0, 0, 0, 0, 0, 0], 0, "not global unicast", "RFC 4291");

const fn v4([a, b, c, d]: [u8; 4], prefix: u8, purpose: &'static str, source: &'static str) -> RefusedRange {
    RefusedRange { net: IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)), purpose, source }
}

const fn v6(
    [a, b, c, d, e, f, g, h]: [u16; 8],
    prefix: u8,
    purpose: &'static str,
    source: &'static str,
) -> RefusedRange {
    RefusedRange { net: IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix)), purpose, source }
}

/// Ranges that the operator opens although they are refused otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AddressGrants(Vec<IpNet>);

/// An address that is not connected to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{address}{} is {} ({}, {}): if the tool needs it, `ringfence grant SOURCE --address {}` opens it", contained(.address, .judged), .range.purpose, .range.net, .range.source, IpNet::from(*.judged))]
pub struct AddressRefused {
    /// The address.
    pub address: IpAddr,
    /// What was refused of it: the address itself, or an IPv4 address that it leads to.
    pub judged: IpAddr,
    /// The range in which that is.
    pub range: RefusedRange,
}

fn contained(address: &IpAddr, judged: &IpAddr) -> String {
    if address == judged { String::new() } else { format!(" leads to {judged}, which") }
}

impl AddressGrants {
    /// Opens `nets`. Two that open the same addresses are equal, however they are written.
    pub fn new(nets: impl IntoIterator<Item = IpNet>) -> Self {
        let mut nets = IpNet::aggregate(&nets.into_iter().collect());
        nets.sort();
        Self(nets)
    }

    /// Checks that `address` may be connected to. An address that leads to an IPv4 address (mapped, translated,
    /// tunnelled) is judged by both.
    ///
    /// # Errors
    /// When it is in a refused range that is not granted.
    pub fn check(&self, address: IpAddr) -> Result<(), AddressRefused> {
        let embedded = match address {
            IpAddr::V4(_) => Vec::new(),
            IpAddr::V6(v6) => embedded(v6),
        };
        let judged = std::iter::once(address).chain(embedded.into_iter().map(IpAddr::V4));
        for judged in judged.filter(|judged| !self.0.iter().any(|net| net.contains(judged))) {
            if let Some(range) = refused_range(judged) {
                return Err(AddressRefused { address, judged, range });
            }
        }
        Ok(())
    }
}

/// The refused range in which `address` itself is.
fn refused_range(address: IpAddr) -> Option<RefusedRange> {
    let listed = REFUSED.iter().find(|range| range.net.contains(&address)).copied();
    match address {
        IpAddr::V6(v6) if !GLOBAL_UNICAST.contains(&v6) => Some(listed.unwrap_or(UNASSIGNED)),
        _ => listed,
    }
}

/// The IPv4 addresses that packets to `address` may reach.
fn embedded(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let bytes = address.octets();
    let at = |i: usize| Ipv4Addr::new(bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]);
    match address.segments() {
        // Unspecified and loopback, not IPv4-compatible.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => vec![],
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => vec![at(12)],
        [0x64, 0xff9b, 0, 0, 0, 0, ..] | [0x64, 0xff9b, 1, ..] => vec![at(12)],
        [0x2002, ..] => vec![at(2)],
        // The server, and the client with its bits flipped (RFC 4380, 4).
        [0x2001, 0, ..] => vec![at(4), Ipv4Addr::from_bits(!at(12).to_bits())],
        // ISATAP, under any prefix (RFC 5214, 6.1).
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => vec![at(12)],
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(address: &str, grants: &[&str]) -> Result<(), AddressRefused> {
        AddressGrants::new(grants.iter().map(|net| net.parse().unwrap())).check(address.parse().unwrap())
    }

    #[test]
    fn special_ranges_are_refused() {
        for (address, purpose) in [
            ("0.0.0.0", "this network"),
            ("10.1.2.3", "private"),
            ("100.64.0.1", "shared by carriers"),
            ("100.127.255.255", "shared by carriers"),
            ("100.100.100.200", "cloud metadata"),
            ("127.0.0.1", "loopback"),
            ("127.255.255.255", "loopback"),
            ("169.254.169.254", "cloud metadata"),
            ("169.254.1.1", "link-local"),
            ("168.63.129.16", "cloud metadata"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.0.0.192", "IETF protocol assignments"),
            ("192.0.2.1", "documentation"),
            ("192.88.99.1", "6to4 relays"),
            ("192.168.0.1", "private"),
            ("198.18.0.1", "benchmarking"),
            ("198.19.255.255", "benchmarking"),
            ("198.51.100.1", "documentation"),
            ("203.0.113.1", "documentation"),
            ("224.0.0.1", "multicast"),
            ("240.0.0.1", "reserved"),
            ("255.255.255.255", "broadcast"),
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("::ffff:8.8.8.8", "IPv4-mapped"),
            ("::ffff:0:8.8.8.8", "IPv4-translated"),
            ("::8.8.8.8", "IPv4-compatible"),
            ("64:ff9b::a00:1", "NAT64"),
            ("64:ff9b:1::a00:1", "local NAT64"),
            ("100::1", "discard-only"),
            ("2001::1", "Teredo"),
            ("2001:2::1", "benchmarking"),
            ("2001:10::1", "ORCHID"),
            ("2001:20::1", "ORCHIDv2"),
            ("2001:1ff::1", "IETF protocol assignments"),
            ("2001:db8::1", "documentation"),
            ("2002:a00:1::", "6to4"),
            ("3fff::1", "documentation"),
            ("5f00::1", "segment routing (SRv6)"),
            ("fd00:ec2::254", "cloud metadata"),
            ("fd12::1", "unique local"),
            ("fe80::1", "link-local"),
            ("fec0::1", "site-local"),
            ("ff02::1", "multicast"),
            ("4000::1", "not global unicast"),
            ("2606:4700::5efe:a00:1", "private"),
        ] {
            assert_eq!(check(address, &[]).unwrap_err().range.purpose, purpose, "{address}");
        }
    }

    #[test]
    fn the_neighbours_are_not() {
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2003::1",
            "2606:4700::1111",
            "2606:4700::5efe:808:808",
        ] {
            assert_eq!(check(address, &[]), Ok(()), "{address}");
        }
    }

    #[test]
    fn a_grant_opens_its_range_and_nothing_else() {
        assert_eq!(check("127.0.0.1", &["127.0.0.0/8"]), Ok(()));
        assert_eq!(check("127.0.0.1", &["127.0.0.1/32"]), Ok(()));
        assert!(check("127.0.0.2", &["127.0.0.1/32"]).is_err());
        assert!(check("::1", &["127.0.0.0/8"]).is_err());
        assert_eq!(check("::1", &["::1/128"]), Ok(()));
    }

    #[test]
    fn what_leads_to_an_ipv4_address_needs_a_grant_for_both() {
        assert!(check("::ffff:127.0.0.1", &["127.0.0.0/8"]).is_err());
        assert!(check("::ffff:127.0.0.1", &["::ffff:0:0/96"]).is_err());
        assert_eq!(check("::ffff:127.0.0.1", &["::ffff:0:0/96", "127.0.0.0/8"]), Ok(()));
        assert_eq!(check("64:ff9b::808:808", &["64:ff9b::/96"]), Ok(()));
        let refused = check("64:ff9b::a00:1", &["64:ff9b::/96"]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "64:ff9b::a00:1 leads to 10.0.0.1, which is private (10.0.0.0/8, RFC 1918): if the tool needs it, \
             `ringfence grant SOURCE --address 10.0.0.1/32` opens it"
        );
        // Teredo: the client is in the flipped bits.
        let teredo = check("2001:0:808:808::f5ff:fffe", &["2001::/32"]).unwrap_err();
        assert_eq!(teredo.judged.to_string(), "10.0.0.1");
    }

    #[test]
    fn grants_are_equal_when_they_open_the_same() {
        let grants = |nets: &[&str]| AddressGrants::new(nets.iter().map(|net| net.parse().unwrap()));
        assert_eq!(grants(&["10.0.0.0/9", "10.128.0.0/9"]), grants(&["10.0.0.0/8", "10.1.0.0/16"]));
        assert_ne!(grants(&["10.0.0.0/8"]), grants(&[]));
    }

    proptest! {
        /// Against the definition by numbers, and the standard library where it has one.
        #[test]
        fn ipv4_agrees_with_the_definition(address in any::<u32>()) {
            let ip = Ipv4Addr::from_bits(address);
            let [a, b, c, _] = ip.octets();
            let special = matches!((a, b, c), (0 | 10 | 127, ..) | (100, 64..128, _) | (172, 16..32, _) | (198, 18 | 19, _)
                | (192, 0, 0 | 2) | (192, 88, 99)) || a >= 224
                || ip.is_private() || ip.is_link_local() || ip.is_documentation()
                || [[168, 63, 129, 16]].contains(&ip.octets());
            prop_assert_eq!(AddressGrants::default().check(ip.into()).is_err(), special, "{}", ip);
        }

        #[test]
        fn no_private_ipv4_address_hides_in_ipv6(low in any::<u32>(), prefix in 0usize..6, all in any::<bool>()) {
            let inner = Ipv4Addr::from_bits(0x0a00_0000 | (low & 0x00ff_ffff));
            let [a, b, c, d] = inner.octets().map(u16::from);
            let (high, low) = (a << 8 | b, c << 8 | d);
            let outer = [
                Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
                Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, 0x808, 0x808, 0, 0, !high, !low),
                Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0, 0x5efe, high, low),
            ][prefix];
            let grants = if all { vec!["::/0".parse().unwrap()] } else { vec![] };
            prop_assert!(AddressGrants::new(grants).check(outer.into()).is_err());
        }
    }
}
