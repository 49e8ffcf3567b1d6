//! Tables defined by their columns: the head of each, and its cell in a row.

/// A column: its head, and the function that returns its cell of a row.
pub type Column<'a, T> = (&'a str, fn(&T) -> String);

/// The heads of columns.
pub fn heads<'a, T>(columns: &[Column<'a, T>]) -> impl Iterator<Item = &'a str> {
    columns.iter().map(|(head, _)| *head)
}

/// The cells of a row in these columns.
pub fn fields<T>(columns: &[Column<'_, T>], row: &T) -> impl Iterator<Item = String> {
    columns.iter().map(move |(_, cell)| cell(row))
}
