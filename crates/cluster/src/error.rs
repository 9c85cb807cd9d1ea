//! Why something was not done at the server.

/// Why something was not done at the server.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Nothing answers there, or it wants other credentials.
    #[error(
        "{server}: cannot connect: {reason}; is the NATS server running, and are the credentials right?"
    )]
    Unreachable {
        /// The server, without a password.
        server: String,
        /// What the client says.
        reason: String,
    },
    /// The server has no JetStream, or the account may not use it.
    #[error(
        "{server}: JetStream is not available: {reason}; start the server with -js, and allow it to this account"
    )]
    NoJetStream {
        /// The server, without a password.
        server: String,
        /// What the server says.
        reason: String,
    },
    /// Something else.
    #[error("{server}: cannot {what}: {reason}")]
    Refused {
        /// The server, without a password.
        server: String,
        /// What was tried.
        what: &'static str,
        /// What the server says.
        reason: String,
    },
    /// The command is to end, and did not wait any longer.
    #[error("{server}: interrupted while waiting for the server")]
    Interrupted {
        /// The server, without a password.
        server: String,
    },
    /// There is no such URL.
    #[error(
        "{url}: this is no address of a NATS server ({reason}); write it like nats://host:4222 or tls://host:4222"
    )]
    Url {
        /// What was given, without a password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The file of credentials cannot be used.
    #[error("{}: cannot read these credentials: {reason}", path.display())]
    Credentials {
        /// Which file.
        path: std::path::PathBuf,
        /// What the system says.
        reason: String,
    },
}
