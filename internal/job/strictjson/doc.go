// Package strictjson parses one JSON object and rejects what other parsers accept: duplicate keys,
// invalid UTF-8, anything after the object. Numbers keep their digits, as json.Number. Into decodes an
// object into a struct, and its errors name fields that are unknown or of the wrong type.
package strictjson
