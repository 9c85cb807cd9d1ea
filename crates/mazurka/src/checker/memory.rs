//! Peak resident memory of the process (Linux).

/// Returns the peak in bytes, or 0 if the system does not provide it.
pub(crate) fn peak_rss_bytes() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| peak_of(&status))
        .unwrap_or(0)
}

/// Parses the line `VmHWM:   1234 kB`.
fn peak_of(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_its_line() {
        assert_eq!(
            peak_of("Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t    1234 kB\n"),
            Some(1_263_616)
        );
        assert_eq!(peak_of("Name:\tx\n"), None);
    }
}
