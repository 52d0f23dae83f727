//! Go text/template with Sprig and Helm functions.
