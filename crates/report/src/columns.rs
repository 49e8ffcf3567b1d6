//! Tables by their columns: what each is called, and what a row has in it.

/// A column: its head, and its cell of a row.
pub type Column<'a, T> = (&'a str, fn(&T) -> String);

/// The heads of columns.
pub fn heads<'a, T>(columns: &[Column<'a, T>]) -> impl Iterator<Item = &'a str> {
    columns.iter().map(|(head, _)| *head)
}

/// The cells of a row in them.
pub fn fields<T>(columns: &[Column<'_, T>], row: &T) -> impl Iterator<Item = String> {
    columns.iter().map(move |(_, cell)| cell(row))
}
