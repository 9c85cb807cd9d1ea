//! Names from the symbol table, for images without debug information.

use object::{Object, ObjectSymbol, SymbolKind};

struct Symbol {
    address: u64,
    size: u64,
    /// The name for the linker, which may be mangled.
    name: String,
}

/// The symbols of an image, each list sorted by `address`.
pub struct Symbols {
    functions: Vec<Symbol>,
    variables: Vec<Symbol>,
    thread_locals: Vec<Symbol>,
}

impl Symbols {
    pub fn of(file: &object::File<'_>) -> Symbols {
        let of_kind = |kind: SymbolKind| {
            let all = file.symbols().chain(file.dynamic_symbols());
            let mut found: Vec<Symbol> = all
                .filter(|symbol| symbol.kind() == kind && symbol.is_definition())
                .filter_map(|symbol| {
                    Some(Symbol {
                        address: symbol.address(),
                        size: symbol.size(),
                        name: symbol.name().ok()?.to_owned(),
                    })
                })
                .collect();
            found.sort_by(|one, other| (one.address, &one.name).cmp(&(other.address, &other.name)));
            found.dedup_by(|one, other| (one.address, &one.name) == (other.address, &other.name));
            found
        };
        Symbols {
            functions: of_kind(SymbolKind::Text),
            variables: of_kind(SymbolKind::Data),
            thread_locals: of_kind(SymbolKind::Tls),
        }
    }

    pub fn function(&self, address: u64) -> Option<String> {
        let symbol = at(&self.functions, address)?;
        Some(demangled(&symbol.name))
    }

    pub fn variable(&self, address: u64) -> Option<String> {
        named(&self.variables, address)
    }

    pub fn thread_local(&self, offset: u64) -> Option<String> {
        named(&self.thread_locals, offset)
    }
}

fn at(symbols: &[Symbol], address: u64) -> Option<&Symbol> {
    let after = symbols.partition_point(|symbol| symbol.address <= address);
    let symbol = symbols[..after].last()?;
    (address - symbol.address < symbol.size.max(1)).then_some(symbol)
}

/// Formats a symbol with an offset: `queue`, `queue+8`.
fn named(symbols: &[Symbol], address: u64) -> Option<String> {
    let symbol = at(symbols, address)?;
    let name = demangled(&symbol.name);
    Some(match address - symbol.address {
        0 => name,
        offset => format!("{name}+{offset}"),
    })
}

/// Returns the source form of a mangled C++ name.
pub fn demangled(name: &str) -> String {
    addr2line::demangle_auto(name.into(), None).into_owned()
}
