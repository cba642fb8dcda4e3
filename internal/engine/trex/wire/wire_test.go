package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

func TestCompressionFraming(t *testing.T) {
	t.Run("what goes in comes out", func(t *testing.T) {
		for _, plain := range []string{"", "x", strings.Repeat("ab", 1<<19)} {
			framed := wire.Compress([]byte(plain))
			if binary.BigEndian.Uint32(framed) != 0xABE85CEA || int(binary.BigEndian.Uint32(framed[4:])) != len(plain) {
				t.Errorf("header is % x", framed[:8])
			}
			got, compressed, err := wire.Decompress(framed)
			if err != nil || !compressed || string(got) != plain {
				t.Errorf("%d bytes came back as %d, compressed %v, %v", len(plain), len(got), compressed, err)
			}
		}
	})
	t.Run("plain text passes through", func(t *testing.T) {
		got, compressed, err := wire.Decompress([]byte(`{"id":1}`))
		if err != nil || compressed || string(got) != `{"id":1}` {
			t.Errorf("got %q, %v, %v", got, compressed, err)
		}
	})
	faults := map[string]func([]byte) []byte{
		"not zlib":        func(b []byte) []byte { return append(b[:8:8], "rubbish"...) },
		"cut off":         func(b []byte) []byte { return b[:len(b)-5] },
		"says too little": func(b []byte) []byte { b[7]--; return b },
		"says too much":   func(b []byte) []byte { b[7]++; return b },
		"says gigabytes":  func(b []byte) []byte { b[4] = 0xff; return b },
	}
	for name, harm := range faults {
		t.Run(name, func(t *testing.T) {
			if _, _, err := wire.Decompress(harm(wire.Compress([]byte("some words")))); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestNumbersAsTRexWritesThem(t *testing.T) {
	floats := map[string]float64{
		"1.5": 1.5, "3": 3, "1e+9999": math.Inf(1), "-1e+9999": math.Inf(-1), "null": math.NaN(), "1e-9999": 0,
	}
	for text, want := range floats {
		var f wire.Float
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := float64(f); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s became %v", text, got)
		}
	}
	counts := map[string]int64{
		"0": 0, "18004": 18004, "9223372036854775807": math.MaxInt64, "18446744073709551615": math.MaxInt64, "5.0": 5,
		"1e3": 1000, "null": 0, "1e+9999": math.MaxInt64,
	}
	for text, want := range counts {
		var c wire.Count
		if err := json.Unmarshal([]byte(text), &c); err != nil || int64(c) != want {
			t.Errorf("%s became %d, %v", text, c, err)
		}
	}
	for _, text := range []string{`"x"`, `{}`, `true`} {
		if json.Unmarshal([]byte(text), new(wire.Float)) == nil ||
			json.Unmarshal([]byte(text), new(wire.Count)) == nil {
			t.Errorf("%s was taken for a number", text)
		}
	}
}

func TestInfinityGoesOutAsItCameIn(t *testing.T) {
	for _, text := range []string{"1e+9999", "-1e+9999", "null", "2.5"} {
		var f wire.Float
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		if got, err := f.MarshalJSON(); err != nil || string(got) != text {
			t.Errorf("%s went out as %s, %v", text, got, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Run("a batch of one is a plain object", func(t *testing.T) {
		got, err := wire.ParseResponses([]byte(`{"id":"a","jsonrpc":"2.0","result":{}}` + "\n"))
		if err != nil || len(got) != 1 || string(got[0].Result) != "{}" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("an empty batch is null", func(t *testing.T) {
		if got, err := wire.ParseResponses([]byte("null\n")); err != nil || len(got) != 0 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("a null result is a result", func(t *testing.T) {
		got, err := wire.ParseResponses([]byte(`[{"id":1,"jsonrpc":"2.0","result":null}]`))
		if err != nil || string(got[0].Result) != "null" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("an error keeps the server's words", func(t *testing.T) {
		got, err := wire.ParseResponses([]byte(`{"id":1,"jsonrpc":"2.0","error":{"code":-32000,"message":"Failed To Execute Method","specific_err":"multiplier can't be zero"}}`))
		if err != nil || got[0].Error.Error() != "multiplier can't be zero (code -32000)" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	for _, bad := range []string{"", "[", "{}", "17", `"x"`, `[{"id":1}]`, `{"result":{}`} {
		if got, err := wire.ParseResponses([]byte(bad)); err == nil {
			t.Errorf("%q was taken for %+v", bad, got)
		}
	}
}

func FuzzDecompress(f *testing.F) {
	f.Add(wire.Compress([]byte(`{"id":1}`)))
	f.Add([]byte("plain"))
	f.Fuzz(func(t *testing.T, b []byte) {
		plain, compressed, err := wire.Decompress(b)
		if err == nil && compressed {
			if decompressed, _, err := wire.Decompress(wire.Compress(plain)); err != nil ||
				!bytes.Equal(decompressed, plain) {
				t.Errorf("round trip failed: %v", err)
			}
		}
	})
}

func FuzzResponses(f *testing.F) {
	f.Add([]byte(`[{"id":1,"jsonrpc":"2.0","result":1e+9999},{"id":2,"error":{"code":-32000}}]`))
	f.Add([]byte(`{"result":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		responses, err := wire.ParseResponses(b)
		for _, r := range responses {
			if err == nil && r.Error == nil && r.Result == nil {
				t.Error("an answer without result or error passed")
			}
			_ = json.Unmarshal(r.Result, new(wire.Float))
			_ = json.Unmarshal(r.Result, new(wire.Count))
		}
	})
}
