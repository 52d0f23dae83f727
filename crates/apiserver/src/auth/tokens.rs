//! Tokens of service accounts: signed by the cluster, bound to the account.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podsmith_object::{Value, json};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, UnparsedPublicKey,
};

use super::Identity;
use crate::fields;
use crate::server::Server;

/// Who the tokens are for and from.
pub const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// A token as it was asked for.
pub struct Wish<'w> {
    /// The account's namespace.
    pub namespace: &'w str,
    /// The account.
    pub account: &'w Value,
    /// Whom it is for; ourselves if empty.
    pub audiences: Vec<String>,
    /// How long it is good.
    pub seconds: i64,
    /// The object it is bound to: kind, name, uid.
    pub bound: Option<(String, String, String)>,
}

fn key(server: &Server) -> Option<EcdsaKeyPair> {
    let random = SystemRandom::new();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &server.pki.token_key, &random).ok()
}

/// Signs a token.
pub fn issue(server: &Server, wish: &Wish<'_>) -> Option<String> {
    let key = key(server)?;
    let now = jiff::Timestamp::now().as_second();
    let name = fields::name(wish.account);
    let audiences = if wish.audiences.is_empty() { vec![ISSUER.to_owned()] } else { wish.audiences.clone() };
    let mut claims = json!({
        "aud": audiences, "exp": now + wish.seconds, "iat": now, "nbf": now, "iss": ISSUER,
        "jti": uuid::Uuid::new_v4().to_string(),
        "sub": format!("system:serviceaccount:{}:{name}", wish.namespace),
        "kubernetes.io": {
            "namespace": wish.namespace,
            "serviceaccount": {"name": name, "uid": fields::uid(wish.account)},
        },
    });
    if let Some((kind, name, uid)) = &wish.bound {
        claims["kubernetes.io"][kind.to_lowercase()] = json!({"name": name, "uid": uid});
    }
    let head = json!({"alg": "ES256", "kid": "podsmith", "typ": "JWT"});
    let body = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(head.to_string()),
        URL_SAFE_NO_PAD.encode(claims.to_string())
    );
    let signature = key.sign(&SystemRandom::new(), body.as_bytes()).ok()?;
    Some(format!("{body}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// The account of a token, if it is ours, still good, and its account and what it is bound to are still there.
pub fn check(server: &Server, token: &str, audience: Option<&str>) -> Option<Identity> {
    let (body, signature) = token.rsplit_once('.')?;
    let (_, claims) = body.split_once('.')?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let key = key(server)?;
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.public_key().as_ref())
        .verify(body.as_bytes(), &signature)
        .ok()?;
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    let now = jiff::Timestamp::now().as_second();
    let good = claims.get("exp")?.as_i64()? > now;
    let for_us = fields::texts(&claims, &["aud"]).contains(&audience.unwrap_or(ISSUER));
    if !good || !for_us {
        return None;
    }
    let own = fields::at(&claims, &["kubernetes.io"])?;
    let namespace = fields::text(own, &["namespace"]);
    let name = fields::text(own, &["serviceaccount", "name"]);
    let uid = fields::text(own, &["serviceaccount", "uid"]);
    let account = server.store.get("serviceaccounts", &format!("{namespace}/{name}"))?.value();
    if fields::uid(&account) != uid {
        return None;
    }
    for (key, table) in [("pod", "pods"), ("secret", "secrets")] {
        if let Some(bound) = fields::at(own, &[key]) {
            let stored =
                server.store.get(table, &format!("{namespace}/{}", fields::text(bound, &["name"])))?;
            if fields::uid(&stored.value()) != fields::text(bound, &["uid"]) {
                return None;
            }
        }
    }
    let mut identity = Identity::new(
        format!("system:serviceaccount:{namespace}:{name}"),
        &["system:serviceaccounts", &format!("system:serviceaccounts:{namespace}")],
    );
    identity.uid = uid.to_owned();
    let id = fields::text(&claims, &["jti"]);
    identity.extra.insert("authentication.kubernetes.io/credential-id".into(), vec![format!("JTI={id}")]);
    Some(identity)
}
