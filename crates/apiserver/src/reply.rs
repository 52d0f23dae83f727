//! Answers.

use std::convert::Infallible;
use std::io::Write as _;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _};
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, StreamBody};
use podsmith_object::{Value, yaml};

use crate::request::Encoding;
use crate::status::ApiError;

/// The body of an answer.
pub type Body = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;

/// Answers are packed from this size on.
const PACK_FROM: usize = 128 * 1024;

/// An answer before it is encoded.
pub struct Reply {
    /// HTTP code.
    pub code: u16,
    /// What is sent.
    pub payload: Payload,
    /// Sent as `Warning` headers.
    pub warnings: Vec<String>,
    /// Further headers.
    pub headers: Vec<(header::HeaderName, String)>,
}

/// What is sent.
pub enum Payload {
    /// JSON that is ready.
    Json(Bytes),
    /// A value to be encoded as the client likes.
    Value(Value),
    /// Text.
    Text(&'static str, String),
    /// Bytes of another media type.
    Bytes(&'static str, Bytes),
    /// Chunks as they come, with their media type.
    Stream(&'static str, BoxStream<'static, Bytes>),
}

impl Reply {
    /// A value.
    pub fn value(code: u16, value: Value) -> Self {
        Self::new(code, Payload::Value(value))
    }

    /// JSON that is ready.
    pub fn json(code: u16, bytes: Bytes) -> Self {
        Self::new(code, Payload::Json(bytes))
    }

    /// Plain text.
    pub fn text(code: u16, text: impl Into<String>) -> Self {
        Self::new(code, Payload::Text("text/plain; charset=utf-8", text.into()))
    }

    /// Bytes of some media type.
    pub fn bytes(code: u16, media: &'static str, bytes: Bytes) -> Self {
        Self::new(code, Payload::Bytes(media, bytes))
    }

    /// A stream of JSON documents.
    pub fn stream(stream: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self::new(200, Payload::Stream("application/json", stream.boxed()))
    }

    fn new(code: u16, payload: Payload) -> Self {
        Self { code, payload, warnings: Vec::new(), headers: Vec::new() }
    }

    /// A failure.
    pub fn error(error: &ApiError) -> Self {
        if error.plain {
            return Self::text(error.code, error.message.clone());
        }
        let mut reply = Self::value(error.code, error.to_value());
        let seconds = error.details.as_ref().map_or(0, |details| details.retry_after_seconds);
        if seconds > 0 {
            reply.headers.push((header::RETRY_AFTER, seconds.to_string()));
        }
        if error.code == 401 {
            reply.headers.push((header::WWW_AUTHENTICATE, "Basic realm=\"kubernetes-master\"".to_owned()));
        }
        reply
    }

    /// Large answers are packed for clients that say they can unpack them.
    #[must_use]
    pub fn packed(mut self, encoding: Encoding) -> Self {
        let media = match &self.payload {
            Payload::Json(_) | Payload::Value(_) => encoding.media_type(),
            Payload::Text(media, _) | Payload::Bytes(media, _) => media,
            Payload::Stream(..) => return self,
        };
        let bytes = match std::mem::replace(&mut self.payload, Payload::Text(media, String::new())) {
            Payload::Json(bytes) if encoding == Encoding::Json => bytes,
            Payload::Json(bytes) => encode(&serde_json::from_slice(&bytes).unwrap_or(Value::Null), encoding),
            Payload::Value(value) => encode(&value, encoding),
            Payload::Text(_, text) => Bytes::from(text),
            Payload::Bytes(_, bytes) => bytes,
            Payload::Stream(..) => return self,
        };
        if bytes.len() <= PACK_FROM {
            self.payload = Payload::Bytes(media, bytes);
            return self;
        }
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        // Writing into memory cannot fail.
        let packed = packer.write_all(&bytes).and_then(|()| packer.finish()).unwrap_or_default();
        self.payload = Payload::Bytes(media, Bytes::from(packed));
        self.headers.push((header::CONTENT_ENCODING, "gzip".to_owned()));
        self.headers.push((header::VARY, "Accept-Encoding".to_owned()));
        self
    }

    /// The HTTP answer.
    pub fn into_response(self, encoding: Encoding) -> Response<Body> {
        let (media, body) = match self.payload {
            Payload::Json(bytes) if encoding == Encoding::Json => ("application/json", full(bytes)),
            Payload::Json(bytes) => {
                let value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
                (encoding.media_type(), full(encode(&value, encoding)))
            }
            Payload::Value(value) => (encoding.media_type(), full(encode(&value, encoding))),
            Payload::Text(media, text) => (media, full(Bytes::from(text))),
            Payload::Bytes(media, bytes) => (media, full(bytes)),
            Payload::Stream(media, stream) => {
                let frames = stream.map(|chunk| Ok(http_body::Frame::data(chunk)));
                (media, StreamBody::new(frames).boxed_unsync())
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.append(name, value);
            }
        }
        for warning in self.warnings {
            let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
            let clean: String = quoted.chars().filter(|c| !c.is_control()).collect();
            if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{clean}\"")) {
                headers.append(header::WARNING, value);
            }
        }
        response
    }
}

fn full(bytes: Bytes) -> Body {
    Full::new(bytes).boxed_unsync()
}

fn encode(value: &Value, encoding: Encoding) -> Bytes {
    match encoding {
        Encoding::Json => {
            let mut out = serde_json::to_vec(value).unwrap_or_default();
            out.push(b'\n');
            Bytes::from(out)
        }
        Encoding::PrettyJson => {
            let mut out = serde_json::to_vec_pretty(value).unwrap_or_default();
            out.push(b'\n');
            Bytes::from(out)
        }
        Encoding::Yaml => Bytes::from(yaml::to_string(value)),
    }
}
