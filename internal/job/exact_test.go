package job_test

import (
	"encoding/json"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/test/must"
)

type exactInner struct {
	URL  string          `json:"url,omitzero"`
	Any  any             `json:"any,omitzero"`
	Raw  json.RawMessage `json:"raw,omitzero"`
	Next *exactInner     `json:"next,omitzero"`
}

type ExactShared struct {
	Shared string `json:"shared,omitzero"`
}

type exactOuter struct {
	ExactShared
	Review *bool                   `json:"require_approval,omitzero"`
	Repos  []exactInner            `json:"repos,omitzero"`
	Named  map[string]*exactInner  `json:"named,omitzero"`
	Pair   [2]exactInner           `json:"pair,omitzero"`
	At     time.Time               `json:"at,omitzero"`
	Either []job.Repository        `json:"either,omitzero"`
	Plain  string                  `json:",omitzero"`
	Hidden string                  `json:"-"`
	Deep   map[string][]exactInner `json:"deep,omitzero"`
}

func TestFieldsAreFilledFromExactlyTheirNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"require_approval":true,"Require_Approval":false,"REQUIRE_APPROVAL":false}`: `{"require_approval":true}`,
		`{"Require_Approval":false}`:                                                         `{}`,
		`{"require_approval":false,"require_approval":true}`:                                 `{"require_approval":true}`,
		`{"repos":[{"url":"first"}],"repos":[{"any":"last"}]}`:                               `{"repos":[{"any":"last"}]}`,
		`{"repos":[{"URL":"x"},{"url":"y","Url":"z"}],"Repos":[{"url":"z"}]}`:                `{"repos":[{},{"url":"y"}]}`,
		`{"named":{"A":{"URL":"x","url":"y"},"a":{"Next":{},"next":{"url":"n","URL":"m"}}}}`: `{"named":{"A":{"url":"y"},"a":{"next":{"url":"n"}}}}`,
		`{"pair":[{"URL":"x"},{"url":"y"}]}`:                                                 `{"pair":[{},{"url":"y"}]}`,
		`{"deep":{"a":[{"URL":"x"}]},"Deep":{"b":[]}}`:                                       `{"deep":{"a":[{}]}}`,
		`{"either":["https://example.com/a#b",{"URL":"x","url":"y","Branch":"m"}]}`:          `{"either":[{"url":"https://example.com/a","branch":"b"},{"url":"y"}]}`,
		`{"shared":"a","Shared":"b","ExactShared":{"shared":"c"}}`:                           `{"shared":"a"}`,
		`{"plain":"a","Plain":"b","Hidden":"c","hidden":"d","-":"e"}`:                        `{"Plain":"b"}`,
		`{"at":"2026-01-02T03:04:05Z","At":"2027-01-02T03:04:05Z"}`:                          `{"at":"2026-01-02T03:04:05Z"}`,
		"{\"repo\u017f\":[{\"url\":\"a letter that folds to s\"}]}":                          `{}`,
		`null`: `{}`,
		` { "repos" : [ { "raw" : {"URL":"<"} , "any" : {"URL":12345678901234567890} } ] } `: `{"repos":[{"any":{"URL":12345678901234567890},"raw":{"URL":"\u003c"}}]}`,
	} {
		var got exactOuter
		must.OK(t, job.UnmarshalExact([]byte(text), &got), text)
		must.Equal(t, want, string(must.Get(json.Marshal(got))(t)), text)
	}
	for _, wrong := range []string{"", "{", `{"repos":{}}`, `{"repos":[1]}`, `{} {}`, `{"named":[]}`, `{"require_approval":1}`} {
		must.Fail(t, job.UnmarshalExact([]byte(wrong), new(exactOuter)), "", wrong)
	}
}
