//! Words for enums, in result files, in texts and on the command line.

/// Gives an enum its words, shown with `word()` and [`Display`](std::fmt::Display):
/// `words!(Type, One => "one", ...)`. With `words!(Type, "what it is", One => "one", ...)` they are
/// also read, by [`FromStr`](std::str::FromStr).
#[macro_export]
macro_rules! words {
    ($type:ty, $what:literal, $($variant:ident => $word:literal),+) => {
        $crate::words!($type, $($variant => $word),+);
        impl std::str::FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("unknown {} {text:?}: one of {}", $what, [$($word),+].join(", "))),
                }
            }
        }
    };
    ($type:ty, $($variant:ident => $word:literal),+) => {
        impl $type {
            /// Returns the word for it in texts, in tables and on the command line.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}
