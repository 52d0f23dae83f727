//! Private keys: made, read and written in the forms that Go's crypto packages use.
