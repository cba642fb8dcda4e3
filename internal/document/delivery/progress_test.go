package delivery_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/delivery"
)

func TestProgress(t *testing.T) {
	p := delivery.Progress{Version: delivery.ProgressVersion, Attempt: 1, Run: 2, Runner: "t-1-runner-x", RunnerUID: "u", UpdateTime: time.Unix(1e9, 0).UTC(),
		Phase: "Ramping", Step: 3, Steps: 20, Percent: 42, IntendedPacketsPerSecond: 1000, LossRatio: "0.001", LostRuns: []string{"run 1 was lost"}}
	t.Run("the Progress is read as it was written", func(t *testing.T) {
		data, err := delivery.EncodeProgress(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := delivery.DecodeProgress(data)
		if err != nil || !reflect.DeepEqual(*got, p) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("a ConfigMap has no Progress before the first runner", func(t *testing.T) {
		if got, err := delivery.DecodeProgress(nil); got != nil || err != nil {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("a long message is cut between characters", func(t *testing.T) {
		long := p
		long.Message = strings.Repeat("ü", 5000)
		long.LostRuns = make([]string, 100)
		data, err := delivery.EncodeProgress(long)
		if err != nil {
			t.Fatal(err)
		}
		got, err := delivery.DecodeProgress(data)
		if err != nil || len(got.Message) > 1024 || !utf8.ValidString(got.Message) || len(got.LostRuns) != 20 {
			t.Errorf("%d bytes, %d lost runs, %v", len(got.Message), len(got.LostRuns), err)
		}
	})
	t.Run("another version is refused", func(t *testing.T) {
		_, err := delivery.DecodeProgress(map[string]string{delivery.KeyProgress: `{"version":"linerate.dev/progress.v7"}`})
		if err == nil || !strings.Contains(err.Error(), "one release") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a Progress that is too large is refused", func(t *testing.T) {
		if _, err := delivery.DecodeProgress(map[string]string{delivery.KeyProgress: strings.Repeat(" ", 1<<20)}); err == nil {
			t.Error("taken")
		}
	})
}

func TestATrimmedProgressIsReadAsTheWhole(t *testing.T) {
	whole := map[string]string{delivery.KeyProgress: `{"version":"linerate.dev/progress.v1alpha1","attempt":3}`, "more": strings.Repeat("x", 1<<20)}
	got, err := delivery.DecodeProgress(delivery.TrimProgress(whole))
	if err != nil || got.Attempt != 3 || len(delivery.TrimProgress(whole)) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for name, data := range map[string]map[string]string{"nothing": nil, "something else": {"more": "x"}} {
		if trimmed := delivery.TrimProgress(data); trimmed != nil {
			t.Errorf("of %s %v is kept", name, trimmed)
		}
	}
	large := delivery.TrimProgress(map[string]string{delivery.KeyProgress: strings.Repeat(" ", 1<<20)})
	if _, err := delivery.DecodeProgress(large); err == nil || len(large[delivery.KeyProgress]) > 65<<10 {
		t.Errorf("%d bytes are kept of one that is too large, and it is read with %v", len(large[delivery.KeyProgress]), err)
	}
}

func FuzzDecodeProgress(f *testing.F) {
	f.Add(`{"version":"linerate.dev/progress.v1alpha1","attempt":1,"run":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := delivery.DecodeProgress(map[string]string{delivery.KeyProgress: text})
		if err == nil && p.Version != delivery.ProgressVersion {
			t.Errorf("took version %q", p.Version)
		}
	})
}
