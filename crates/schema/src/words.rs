//! Words for enums, in result files and on the command line.

/// Gives an enum its words: `words!(Type, "what it is", Type::One => "one", ...)`.
macro_rules! words {
    ($type:ty, $what:literal, $($variant:path => $word:literal),+) => {
        impl $type {
            /// The word used in result files and on the command line.
            pub fn word(self) -> &'static str {
                match self { $($variant => $word),+ }
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
        impl std::str::FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok($variant),)+
                    _ => Err(format!("unknown {} {text:?}: one of {}", $what, [$($word),+].join(", "))),
                }
            }
        }
    };
}

pub(crate) use words;
