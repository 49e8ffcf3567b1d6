//! Clients whose machines are not named: a number shows which of them share a machine.

use std::collections::BTreeMap;

/// Replaces every name with `host-N`, the same for all clients of one machine; N counts from 0, as
/// for clients.
pub fn unname<'a>(hosts: impl Iterator<Item = &'a mut String>) {
    let mut numbers = BTreeMap::new();
    for host in hosts {
        let next = numbers.len();
        let number = *numbers.entry(std::mem::take(host)).or_insert(next);
        *host = format!("host-{number}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_one_machine_keep_one_word_for_it() {
        let mut hosts = ["delta", "alpha", "delta", "beta"].map(str::to_owned);
        unname(hosts.iter_mut());
        assert_eq!(hosts, ["host-0", "host-1", "host-0", "host-2"]);
    }
}
