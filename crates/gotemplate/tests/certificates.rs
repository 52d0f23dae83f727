//! Keys and certificates, with fast keys only.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use podsmith_gotemplate::{Functions, Options, TemplateSet, Value};

fn render(template: &str, seed: Option<u64>) -> String {
    let mut set = TemplateSet::new(Functions::helm());
    set.parse("t", template).unwrap();
    set.execute("t", &Value::Nil, Options { seed, ..Options::default() }).unwrap()
}

const CHAIN: &str = r#"
{{- $key := genPrivateKey "ed25519" -}}
{{- $ca := genCAWithKey "authority" 365 $key -}}
{{- $leaf := genSignedCertWithKey "web" (list "10.0.0.1" "::1") (list "web.example" "*.web.example") 30 $ca (genPrivateKey "ed25519") -}}
{{- $own := genSelfSignedCertWithKey "own" nil (list "own.example") 30 $key -}}
{{- $again := buildCustomCert ($leaf.Cert | b64enc) ($leaf.Key | b64enc) -}}
{{ $ca.Cert }}{{ $leaf.Cert }}{{ $leaf.Key }}{{ $own.Cert }}{{ eq $again.Cert $leaf.Cert }}"#;

#[test]
fn a_seed_makes_keys_and_certificates_reproducible() {
    let first = render(CHAIN, Some(7));
    assert_eq!(first.matches("-----BEGIN CERTIFICATE-----").count(), 3);
    assert!(first.ends_with("true"));
    assert_eq!(first, render(CHAIN, Some(7)));
    assert_ne!(first, render(CHAIN, Some(8)));
    assert_ne!(render(CHAIN, None), render(CHAIN, None));
}

#[test]
fn a_seed_makes_random_text_and_time_reproducible() {
    let template = r#"{{ randAlphaNum 20 }} {{ randAlpha 5 }} {{ randNumeric 5 }} {{ randAscii 5 }} {{ randBytes 8 }} {{ randInt 0 1000000 }} {{ uuidv4 }} {{ shuffle "abcdefgh" }} {{ bcrypt "x" }} {{ encryptAES "k" "v" }} {{ now }} {{ date "2006" now }}"#;
    let first = render(template, Some(1));
    assert_eq!(first, render(template, Some(1)));
    assert_ne!(first, render(template, Some(2)));
    assert!(first.contains("1970-01-01 00:00:00 +0000 UTC 1970"), "{first}");
    let random: String = first.split(" 1970").next().unwrap().to_owned();
    assert_ne!(random, render(template, None).split(" 20").next().unwrap());
}

#[test]
fn elliptic_keys_sign_too() {
    let out = render(
        r#"{{ $c := genCAWithKey "a" 1 (genPrivateKey "ecdsa") }}{{ $c.Key | hasPrefix "-----BEGIN EC PRIVATE KEY-----" }}{{ (genSignedCertWithKey "b" nil nil 1 $c (genPrivateKey "ecdsa")).Cert | hasPrefix "-----BEGIN CERTIFICATE" }}"#,
        None,
    );
    assert_eq!(out, "truetrue");
}

#[test]
fn new_authorities_have_rsa_keys() {
    if cfg!(debug_assertions) {
        println!("skipped: new_authorities_have_rsa_keys: RSA keys take a minute without optimization");
        return;
    }
    let template = r#"{{ $ca := genCA "ca" 365 }}{{ $c := genSignedCert "x" (list "1.2.3.4") (list "a.b") 10 $ca }}{{ $ca.Key }}{{ $c.Cert }}"#;
    let first = render(template, Some(3));
    assert!(first.starts_with("-----BEGIN RSA PRIVATE KEY-----"));
    assert_eq!(first, render(template, Some(3)));
}

#[test]
fn derived_passwords_are_those_of_the_real_engine() {
    if cfg!(debug_assertions) {
        println!(
            "skipped: derived_passwords_are_those_of_the_real_engine: scrypt takes half a minute without optimization"
        );
        return;
    }
    let template = r#"{{ derivePassword 1 "long" "password" "user" "example.com" }} {{ derivePassword 2 "pin" "p" "u" "s" }} {{ derivePassword 1 "maximum" "a" "b" "c" }}"#;
    assert_eq!(render(template, None), "ZedaFaxcZaso9* 8889 qXz#NALAvUyJ#cLNQI2^");
}
