# What jq defines in jq. Faster or stricter functions are in natives.rs, paths.rs and text.rs.

def empty: {}[] as $none | .;
def error: error_empty as $none | .;
def error(message): (message | error_empty) as $none | .;
def null: [][0];
def true: 0 == 0;
def false: 0 != 0;
def select(condition): if condition then . else empty end;
def tostring: "\(.)";

def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type == "array" or type == "object");
def scalars: select(type != "array" and type != "object");
def finites: numbers | select(isinfinite or isnan | not);
def normals: numbers | select(isnormal);
def toarray: if type == "array" then . else [.] end;
def abs: if type != "number" then error("\(type) has no absolute value") elif . < 0 then -. else . end;

def range($to): range(0; $to; 1);
def range($from; $to): range($from; $to; 1);
def recurse(f): def next: ., (f | next); next;
def recurse: recurse(.[]?);
def recurse(f; condition): recurse(f | select(condition));
def repeat(f): def next: f, next; next;
def while(condition; update): def next: if condition then ., (update | next) else empty end; next;
def until(condition; update): def next: if condition then . else (update | next) end; next;
def isempty(f): first((f | false), true);
def nth($n): .[$n];
def nth($n; f): if $n < 0 then error("nth does not take a negative number") else first(skip($n; f)) end;
def first: .[0];
def last: .[-1];

def map(f): [.[] | f];
def map_values(f): .[] |= f;
def walk(f): .. |= f;
def add(f): [f] | add;
def any(generator; condition): isempty(first(generator | condition | select(.))) | not;
def all(generator; condition): isempty(first(generator | condition | select(. | not)));
def any(condition): any(.[]; condition);
def all(condition): all(.[]; condition);
def any: any(.[]; .);
def all: all(.[]; .);
def in(object): . as $key | object | has($key);
def inside(whole): . as $part | whole | contains($part);
def index($part): indices($part) | .[0];
def rindex($part): indices($part) | .[-1:][0];
def flatten: flatten(1000000000);
def with_entries(f): to_entries | map(f) | from_entries;
def min_by(f): reduce min_by_or_empty(f) as $found (null; $found);
def max_by(f): reduce max_by_or_empty(f) as $found (null; $found);
def min: min_by(.);
def max: max_by(.);
def unique_by(f): [group_by(f)[] | .[0]];
def unique: unique_by(.);
def transpose: (map(length) | max // 0) as $width | [range($width) as $column | [.[][$column]]];
def combinations: if length == 0 then [] else .[0][] as $head | .[1:] | combinations as $tail | [$head] + $tail end;
def combinations($n): . as $items | [range($n) | $items] | combinations;
def bsearch($wanted):
  if length == 0 then -1 else
    . as $items
    | {low: 0, high: length, at: null}
    | until(.low >= .high or .at != null;
        ((.low + .high) / 2 | floor) as $middle
        | $items[$middle] as $found
        | if $found == $wanted then .at = $middle elif $found < $wanted then .low = $middle + 1 else .high = $middle end)
    | if .at != null then .at else -1 - .low end
  end;
def INDEX(stream; key): reduce stream as $row ({}; .[$row | key | tostring] = $row);
def INDEX(key): INDEX(.[]; key);
def IN(stream): . as $value | any(stream; . == $value);
def IN(source; stream): any(source; IN(stream));
def ascii: [.] | implode;

def getpath($path): reduce $path[] as $step (.; .[$step]);
def paths: skip(1; path(..));
def paths(condition): path(.. | select(condition)) | select(length > 0);
def leaf_paths: paths(type != "array" and type != "object");
def del(f): delpaths([path(f)]);
def pick(f): . as $whole | reduce path(f) as $path (null; setpath($path; $whole | getpath($path)));
def tostream: stream_events[];
def fromstream(events):
  {done: false, value: null} as $start
  | foreach events as $event ($start;
      (if .done then $start else . end)
      | if ($event | length) == 2
        then setpath(["value"] + $event[0]; $event[1]) | .done = ($event[0] | length == 0)
        else .done = ($event[0] | length == 1) end;
      if .done then .value else empty end);
def truncate_stream(events): . as $depth | null | events | select((.[0] | length) > $depth) | .[0] |= .[$depth:];
def truncate_stream($depth; events): $depth | truncate_stream(events);

def captured: [.captures[] | select(.name != null) | {key: .name, value: .string}] | from_entries;
def test($expression): test($expression; "");
def match($expression; $flags): matches($expression; $flags)[];
def match($expression): match($expression; "");
def capture($expression; $flags): match($expression; $flags) | captured;
def capture($expression): capture($expression; "");
def scan($expression; $flags):
  match($expression; "g" + $flags) | if (.captures | length) == 0 then .string else [.captures[].string] end;
def scan($expression): scan($expression; "");
def split($expression; $flags):
  . as $text
  | [foreach (match($expression; $flags + "g"), null) as $found ({at: 0};
      if $found == null then .piece = $text[.at:]
      else .piece = $text[.at:$found.offset] | .at = $found.offset + $found.length end;
      .piece)];
def splits($expression; $flags): split($expression; $flags)[];
def splits($expression): splits($expression; "");
def sub($expression; replacement; $flags):
  . as $text
  | reduce match($expression; $flags) as $found ({at: 0, out: ""};
      .out += $text[.at:$found.offset] + ($found | captured | replacement)
      | .at = $found.offset + $found.length)
  | .out + $text[.at:];
def sub($expression; replacement): sub($expression; replacement; "");
def gsub($expression; replacement; $flags): sub($expression; replacement; $flags + "g");
def gsub($expression; replacement): sub($expression; replacement; "g");

def todate: todateiso8601;
def fromdate: fromdateiso8601;
def date: todate;

def logb: if . == 0 then -infinite elif isinfinite then infinite elif isnan then . else ilogb + 0.0 end;
def pow10: pow(10; .);
def gamma: lgamma;
def significand: if . == 0 or isinfinite or isnan then . else scalbln(.; -ilogb) end;

def @text: tostring;
def @json: tojson;
def @csv: csv_row;
def @tsv: tsv_row;
def @html: tostring | escape_html;
def @uri: tostring | encode_uri;
def @urid: tostring | decode_uri;
def @sh: [toarray[] | if type == "string" then "'\(escape_sh)'" else tojson end] | join(" ");
def @base64: tostring | encode_base64;
def @base64d: tostring | decode_base64;
