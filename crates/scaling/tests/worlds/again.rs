//! Whether several evaluations of one world agree, at budgets of one, three and ten minutes.

use super::world::World;
use super::{chosen, today};
use ioscape_scaling::explore;
use ioscape_scaling::judge::testing_agreement::{Finding, agreement, findings};
use std::collections::BTreeMap;

/// Number of evaluations of each world.
const RUNS: u64 = 4;

/// Pairs of evaluations, finding by finding.
#[derive(Clone, Copy, Default)]
struct Pairs {
    /// Both say the same.
    told: usize,
    /// Both say that they cannot tell.
    withheld: usize,
    /// Only one says something.
    one: usize,
    /// They contradict each other.
    contradict: usize,
}

impl Pairs {
    fn all(self) -> usize {
        self.told + self.withheld + self.one + self.contradict
    }

    fn share(self, count: usize) -> f64 {
        100.0 * count as f64 / self.all().max(1) as f64
    }
}

/// The subject of a finding, without the region in which it holds.
fn kind(name: &str) -> &str {
    name.rsplit(", ").next().unwrap_or(name)
}

fn counted(seed: u64, budget_s: f64, kinds: &mut BTreeMap<String, Pairs>) {
    let said = |run: u64| -> Vec<Finding> {
        let mut world = World::again(seed, run);
        world.budget_s = budget_s;
        findings(&explore(&world.options(), &mut world).unwrap())
    };
    let all: Vec<Vec<Finding>> = (0..RUNS).map(said).collect();
    for found in agreement(&all) {
        let pairs = kinds.entry(kind(&found.name).to_owned()).or_default();
        pairs.told += found.told();
        pairs.withheld += found.withheld;
        pairs.contradict += found.contradicting;
        pairs.one += found.pairs - found.agreeing - found.contradicting;
    }
}

fn print(name: &str, pairs: Pairs) {
    let Pairs { told, withheld, one, contradict } = pairs;
    let [told, withheld, one, contradict] =
        [told, withheld, one, contradict].map(|count| pairs.share(count));
    println!(
        "  {name:<28} {told:>5.1} % the same, {withheld:>5.1} % withheld by both, {one:>5.1} % told by one, {contradict:>4.1} % contradict"
    );
}

#[test]
fn evaluations_of_one_world_do_not_contradict_each_other() {
    let budgets = [60.0, 180.0, 600.0];
    let of_today = today::day() as usize % budgets.len();
    let all_of_them = today::is_full() || chosen().is_some();
    for budget_s in if all_of_them { &budgets[..] } else { &budgets[of_today..=of_today] } {
        let mut kinds = BTreeMap::new();
        chosen().unwrap_or(0..3).for_each(|seed| counted(seed, *budget_s, &mut kinds));
        println!("{budget_s} s:");
        kinds.iter().for_each(|(name, &pairs)| print(name, pairs));
        let sum = |count: fn(&Pairs) -> usize| kinds.values().map(count).sum();
        let all = Pairs {
            told: sum(|p| p.told),
            withheld: sum(|p| p.withheld),
            one: sum(|p| p.one),
            contradict: sum(|p| p.contradict),
        };
        print("all", all);
        assert!(all.share(all.contradict) < 10.0, "{:.1} %", all.share(all.contradict));
    }
}
