package httpjson

import (
	"reflect"
	"testing"
)

// FuzzPlain compares the fast parser with the exact one: they must agree on what the fast
// one accepts. What it leaves to the exact one is listed, so that it handles all common
// input.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{
		`{}`, " {\n\"a\" : [ ] }\t", `{"a":[1,-2.5e3,0,null,true,false,{}],"b":{"c":"\"\\\/\b\u00e9"}}`, `{"a":"é😀"}`,
		`{"a":1,"a":2}`, `{"ab":1,"a\u0062":2}`, `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":+1}`, `{"a":truex}`, `{"a":1,}`, `{"a":[1,]}`, `{"a" 1}`, `{,}`, `{"a":1}}`,
		`{"a":"\ud800"}`, `{"a":"\ud83d\ude00"}`, "{\"a\":\"\x01\"}", "{\"\xff\":1}", "{\"a\":1}\x00", `[`, `null`, ``, `{"a":"`, `{"a":"\`, `{"":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		quick, ok := decodePlain(body)
		exact, err := decodeExactly(body)
		if ok && (err != nil || !reflect.DeepEqual(quick, exact)) {
			t.Errorf("%q: the quick reader reads %#v, the exact one %#v (%v)", body, quick, exact, err)
		}
	})
}

func TestTheQuickReaderTakesWhatIsUsual(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"requestId":"r","hmac":"0f","message":"Grüße \"an\" alle\n","progress":12.5}`, `{"a":[{"b":[]},null,true,-1e-7]} `} {
		if _, ok := decodePlain([]byte(body)); !ok {
			t.Errorf("%s is left to the exact reader", body)
		}
	}
}
