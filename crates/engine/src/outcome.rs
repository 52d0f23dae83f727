//! What a closure may return: the plain value, or a result with any error.

/// Any error that can cross threads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

/// The return type of a closure used as a filter, transformer, renderer or post-renderer: `T` itself, or
/// `Result<T, E>` with any error type.
///
/// ```
/// use podsmith_engine::Outcome;
/// fn outcome(value: impl Outcome<bool>) -> Option<bool> {
///     value.into_outcome().ok()
/// }
/// assert_eq!(outcome(true), Some(true));
/// assert_eq!(outcome(Ok::<_, std::fmt::Error>(false)), Some(false));
/// assert_eq!(outcome(Err("no")), None);
/// ```
pub trait Outcome<T> {
    /// The value, or why there is none.
    ///
    /// # Errors
    ///
    /// The error that the closure returned.
    fn into_outcome(self) -> Result<T, BoxError>;
}

impl<T> Outcome<T> for T {
    fn into_outcome(self) -> Result<T, BoxError> {
        Ok(self)
    }
}

impl<T, E: Into<BoxError>> Outcome<T> for Result<T, E> {
    fn into_outcome(self) -> Result<T, BoxError> {
        self.map_err(Into::into)
    }
}
