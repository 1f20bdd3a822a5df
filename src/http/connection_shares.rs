//! The share that one address has of the connections. Whoever opens all that it can leaves others room.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// The connections that are open, by address.
pub(super) struct AddressShares {
    most: usize,
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection of an address. It is given back when dropped.
pub(super) struct AddressShare {
    shares: Arc<AddressShares>,
    from: IpAddr,
}

impl AddressShares {
    /// `most` is the number of connections that one address may have open.
    pub(super) fn new(most: usize) -> Self {
        Self { most, open: Mutex::default() }
    }

    /// Takes a connection of the share of an address. None where all are taken.
    pub(super) fn take(self: &Arc<Self>, from: IpAddr) -> Option<AddressShare> {
        let from = network(from);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.entry(from).or_default();
        (*open < self.most).then(|| {
            *open += 1;
            AddressShare { shares: Arc::clone(self), from }
        })
    }
}

impl Drop for AddressShare {
    fn drop(&mut self) {
        let mut open = self.shares.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut entry) = open.entry(self.from) {
            *entry.get_mut() -= 1;
            if *entry.get() == 0 {
                entry.remove();
            }
        }
    }
}

/// Returns what one client has: its address, or the network of 64 bits that a client of IPv6 picks its addresses from.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_has_its_share_and_no_more_and_gives_back_what_it_closes() {
        let shares = Arc::new(AddressShares::new(2));
        let [first, _second] = [(); 2].map(|()| shares.take(address("192.0.2.7")).unwrap());
        assert!(shares.take(address("192.0.2.7")).is_none());
        assert!(shares.take(address("::ffff:192.0.2.7")).is_none(), "the same address, written otherwise");
        assert!(shares.take(address("192.0.2.8")).is_some());
        drop(first);
        assert!(shares.take(address("192.0.2.7")).is_some());
        assert_eq!(shares.open.lock().unwrap().len(), 1, "nothing is kept of who has gone");
    }

    #[test]
    fn the_addresses_of_one_network_share() {
        let shares = Arc::new(AddressShares::new(1));
        let _one = shares.take(address("2001:db8:0:7::1")).unwrap();
        assert!(shares.take(address("2001:db8:0:7:ffff::2")).is_none());
        assert!(shares.take(address("2001:db8:0:8::1")).is_some());
    }
}
