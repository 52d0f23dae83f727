//! What must change so that the cluster matches what is declared.
