package store

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

// effects must contain each type of Effect, which is a closed set.
var effects = []lifecycle.Effect{
	lifecycle.Emit{Data: json.RawMessage("{}")},
	lifecycle.PutMessage{Session: new(lifecycle.Session)},
	lifecycle.TouchMessage{Session: new(lifecycle.Session)},
	lifecycle.MoveCall{Session: new(lifecycle.Session)},
	lifecycle.SetCall{},
	lifecycle.SetClock{},
	lifecycle.StopClocks{},
	lifecycle.RotateSecret{},
	lifecycle.KeepSecret{},
	lifecycle.DropSecret{},
	lifecycle.EnqueueTurn{},
	lifecycle.DropEntry{},
	lifecycle.OccupySlot{},
	lifecycle.AwaitSlot{},
	lifecycle.AddTask{},
	lifecycle.AppendAudit{},
	lifecycle.Count{},
	lifecycle.CountDaily{},
	lifecycle.CountSpent{},
	lifecycle.RememberKey{},
	lifecycle.AddStanding{},
	lifecycle.RemoveStanding{},
	lifecycle.AppendAnswer{},
	lifecycle.CopyAnswers{},
	lifecycle.SaveChange{},
	lifecycle.KeepBatch{},
	lifecycle.DropBatches{},
	lifecycle.ForgetReports{},
	lifecycle.KeepKind{Version: "v", Definition: []byte("{}")},
}

func TestEachEffectIsTranslated(t *testing.T) {
	t.Parallel()
	for _, e := range effects {
		c := commit{prefix: "rb:{00}", now: time.Now(), touched: map[string]bool{}, clocked: map[string]time.Duration{}}
		c.apply(e)
		if len(c.commands)+len(c.events)+len(c.guards) == 0 {
			t.Errorf("%T does nothing", e)
		}
	}
}

// A run is watched while it runs, and a checkpoint is listed in its session while it waits.
func TestWhatIsWatchedAndListed(t *testing.T) {
	t.Parallel()
	open, closed := lifecycle.Checkpoint{ID: "c", Status: job.Open}, lifecycle.Checkpoint{ID: "c", Status: job.Answered}
	running := lifecycle.Run{ID: "r", State: lifecycle.RunRunning}
	ended := lifecycle.Run{ID: "r", State: lifecycle.RunFailed, Loaded: &running}
	for want, write := range map[string]func(*commit){
		"ZADD rb:{00}:acting":     func(c *commit) { c.run(&running) },
		"ZREM rb:{00}:acting":     func(c *commit) { c.run(&ended) },
		"ZADD rb:{00}:asking:0::": func(c *commit) { c.ask(new(lifecycle.Checkpoint), &open) },
		"ZREM rb:{00}:asking:0::": func(c *commit) { c.ask(&open, &closed) },
	} {
		c := commit{prefix: "rb:{00}", touched: map[string]bool{}, clocked: map[string]time.Duration{}}
		write(&c)
		must.Contain(t, fmt.Sprint(c.commands), want)
	}
}

// TestRecordsAreReadAsTheyWereWritten writes each field of a record and reads it back.
func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	want := lifecycle.Record{}
	fill(reflect.ValueOf(&want).Elem())
	want.ID, want.Input, want.Options, want.Result = "", nil, job.Options{}, nil // these are not read
	set, _ := changes(lifecycle.Record{}, want, recordFields)
	h := map[string]string{}
	for i := 0; i < len(set); i += 2 {
		h[set[i].(string)] = set[i+1].(string)
	}
	var got lifecycle.Record
	must.OK(t, decodeValues(&got, recordFields, h))
	if !reflect.DeepEqual(want, got) {
		t.Errorf("wrote %+v\nread %+v", want, got)
	}
}

// The record and the content of a job are read one after the other, so that the content may be newer.
func TestAResultCountsOnceTheRecordSaysSo(t *testing.T) {
	t.Parallel()
	content := map[string]string{"input": `{"a":1}`, "result": `{"b":2}`}
	for digest, want := range map[string]string{"": "", "d": `{"b":2}`} {
		j := must.Get(viewOf(lifecycle.Record{ResultDigest: digest}, nil, content))(t)
		must.Equal(t, want, string(j.Result), "the result shown")
		must.Equal(t, `{"a":1}`, string(j.Input), "the input shown")
	}
}

// fill sets every field to a non-zero value.
func fill(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.UnixMilli(1767323045678).UTC()))
		return
	case v.Type() == reflect.TypeFor[time.Duration]():
		v.SetInt(int64(42 * time.Second))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.25)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		}
	default:
	}
}
