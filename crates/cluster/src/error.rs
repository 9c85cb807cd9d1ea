//! Errors of operations on the server.

/// An error of an operation on the server.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// No server answers at the address, or the server requires other credentials.
    #[error(
        "{server}: cannot connect: {reason}; is the NATS server running, and are the credentials right?"
    )]
    Unreachable {
        /// The server, without a password.
        server: String,
        /// The error that the client reports.
        reason: String,
    },
    /// The server has no JetStream, or the account is not permitted to use it.
    #[error(
        "{server}: JetStream is not available: {reason}; start the server with -js, and enable it for this account"
    )]
    NoJetStream {
        /// The server, without a password.
        server: String,
        /// The error that the server reports.
        reason: String,
    },
    /// Another operation failed.
    #[error("{server}: cannot {what}: {reason}")]
    Refused {
        /// The server, without a password.
        server: String,
        /// The operation.
        what: &'static str,
        /// The error that the server reports.
        reason: String,
    },
    /// The command was asked to end and stopped waiting.
    #[error("{server}: interrupted while waiting for the server")]
    Interrupted {
        /// The server, without a password.
        server: String,
    },
    /// The URL is invalid.
    #[error(
        "{url}: this is not the address of a NATS server ({reason}); write it like nats://host:4222 or tls://host:4222"
    )]
    Url {
        /// The given URL, without a password.
        url: String,
        /// The problem with it.
        reason: String,
    },
    /// The credentials file cannot be used.
    #[error("{}: cannot read these credentials: {reason}", path.display())]
    Credentials {
        /// The file.
        path: std::path::PathBuf,
        /// The error that the system reports.
        reason: String,
    },
}
