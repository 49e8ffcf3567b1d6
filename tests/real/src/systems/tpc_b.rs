//! TPC-B's tables, and its transaction profile for SQLite: three updates, a query and an insertion.

use crate::lab::Lab;

/// The size of the benchmark.
pub struct TpcB {
    /// Branches, with ten tellers each.
    pub branches: u32,
    /// Accounts per branch; a million take 125 MB.
    pub accounts: u32,
    /// Transactions, twenty per commit, none of which waits for the disk.
    pub transactions: u32,
}

impl TpcB {
    /// Writes the script that creates the tables to `w/NAME-make.sql`, and the transactions to
    /// `w/NAME-run.sql`.
    ///
    /// # Errors
    /// One sentence from the shell.
    pub fn write(&self, lab: &Lab, name: &str) -> Result<(), String> {
        let Self { branches, accounts, transactions } = self;
        let tables = self.tables();
        lab.shell(&format!("cat > w/{name}-make.sql <<'EOF'\n{tables}\nEOF"))?;
        let sizes = format!("-v branches={branches} -v each={accounts} -v count={transactions}");
        lab.shell(&format!("awk {sizes} '{TRANSACTIONS}' > w/{name}-run.sql")).map(drop)
    }

    fn tables(&self) -> String {
        let Self { branches, accounts, .. } = self;
        let (all, last_teller) = (branches * accounts, branches * 10 - 1);
        format!(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE accounts (aid INTEGER PRIMARY KEY, bid INTEGER, abalance INTEGER, filler TEXT);
CREATE TABLE tellers (tid INTEGER PRIMARY KEY, bid INTEGER, tbalance INTEGER, filler TEXT);
CREATE TABLE branches (bid INTEGER PRIMARY KEY, bbalance INTEGER, filler TEXT);
CREATE TABLE history (tid INTEGER, bid INTEGER, aid INTEGER, delta INTEGER, mtime INTEGER, filler TEXT);
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {all})
  INSERT INTO accounts SELECT x, x / {accounts}, 0, printf('%084d', x) FROM c;
WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM c WHERE x < {last_teller})
  INSERT INTO tellers SELECT x, x / 10, 0, printf('%084d', x) FROM c;
WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM c WHERE x < {branches})
  INSERT INTO branches SELECT x, 0, printf('%088d', x) FROM c;"
        )
    }
}

/// Prints the transactions.
const TRANSACTIONS: &str = r#"BEGIN { srand(2); accounts = branches * each; tellers = branches * 10
print "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -1000;"
for (i = 0; i < count; i++) {
  if (i % 20 == 0) print "BEGIN;"
  a = 1 + int(rand() * accounts); t = int(rand() * tellers); b = int(t / 10); d = int(rand() * 1000) - 500
  printf "UPDATE accounts SET abalance = abalance + %d WHERE aid = %d;", d, a
  printf "SELECT abalance FROM accounts WHERE aid = %d;", a
  printf "UPDATE tellers SET tbalance = tbalance + %d WHERE tid = %d;", d, t
  printf "UPDATE branches SET bbalance = bbalance + %d WHERE bid = %d;", d, b
  printf "INSERT INTO history VALUES (%d, %d, %d, %d, %d, \"%022d\");\n", t, b, a, d, i, 0
  if (i % 20 == 19) print "COMMIT;"
} }"#;
