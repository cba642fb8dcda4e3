package softgen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// double doubles "n", and has no other method.
func double(method string, parameters json.RawMessage) (any, error) {
	var p struct{ N int }
	if method != "double" || json.Unmarshal(parameters, &p) != nil {
		return nil, &wire.Error{Code: wire.CodeUnknownMethod, Message: "Method " + method + " not registered"}
	}
	return 2 * p.N, nil
}

func TestEnvelope(t *testing.T) {
	ask := func(id, method string, n int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"n":%d}}`, id, method, n)
	}
	for name, c := range map[string]struct{ request, want string }{
		"one request is answered with its id": {ask(`"a"`, "double", 2), `{"id":"a","jsonrpc":"2.0","result":4}`},
		"a number as id comes back as it was": {ask(`7`, "double", 2), `{"id":7,"jsonrpc":"2.0","result":4}`},
		"a batch of one is answered with an object": {"[" + ask(`1`, "double", 3) + "]",
			`{"id":1,"jsonrpc":"2.0","result":6}`},
		"an empty batch is answered with null": {"[]", "null"},
		"what follows a failed command still runs": {"[" + ask(`1`, "double", 1) + "," + ask(`2`, "nonsense", 0) + "," +
			ask(`3`, "double", 3) + "]",
			`[{"id":1,"jsonrpc":"2.0","result":2},` +
				`{"error":{"code":-32601,"message":"Method nonsense not registered"},"id":2,"jsonrpc":"2.0"},` +
				`{"id":3,"jsonrpc":"2.0","result":6}]`},
		"what is no JSON": {"hello", `{"error":{"code":-32700,"message":"Bad JSON Format"},"id":null,"jsonrpc":"2.0"}`},
		"nothing":         {"", `{"error":{"code":-32700,"message":"Bad JSON Format"},"id":null,"jsonrpc":"2.0"}`},
		"a number":        {"5", `{"error":{"code":-32600,"message":"Missing 'id' field"},"id":null,"jsonrpc":"2.0"}`},
		"an id that is null": {ask("null", "double", 1),
			`{"error":{"code":-32600,"message":"Missing 'id' field"},"id":null,"jsonrpc":"2.0"}`},
		"another version": {`{"id":1,"jsonrpc":"1.0"}`,
			`{"error":{"code":-32600,"message":"Invalid JSONRPC Version"},"id":1,"jsonrpc":"2.0"}`},
		"no method": {`{"id":1,"jsonrpc":"2.0"}`,
			`{"error":{"code":-32600,"message":"Missing Method Name"},"id":1,"jsonrpc":"2.0"}`},
		"a method that is a list": {`{"id":1,"jsonrpc":"2.0","method":[]}`,
			`{"error":{"code":-32600,"message":"Missing Method Name"},"id":1,"jsonrpc":"2.0"}`},
		"a request over the limit": {strings.Repeat(" ", 1_000_000),
			`{"error":{"code":-32603,"message":"Request is too large (1000000 bytes). ` +
				`Consider splitting to smaller chunks."},"id":null,"jsonrpc":"2.0"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(answer([]byte(c.request), double, &zipper{})); got != c.want+"\n" {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestCompression(t *testing.T) {
	request := []byte(`{"jsonrpc":"2.0","id":1,"method":"double","params":{"n":21}}`)
	t.Run("an answer is compressed if and only if its request was", func(t *testing.T) {
		plain := answer(request, double, &zipper{})
		inside, zipped := unzip(answer(new(zipper).zip(request), double, &zipper{}), wire.MaxRequest)
		if !zipped || !bytes.Equal(inside, plain) || !strings.Contains(string(plain), "42") {
			t.Errorf("plain %q, compressed %q (%v)", plain, inside, zipped)
		}
	})
	t.Run("a small message that is large inside is refused", func(t *testing.T) {
		bomb := new(zipper).zip(bytes.Repeat([]byte(" "), 4<<20))
		inside, _ := unzip(answer(bomb, double, &zipper{}), wire.MaxRequest)
		if !strings.Contains(string(inside), "too large") {
			t.Errorf("got %q", inside)
		}
	})
	t.Run("a broken compressed message is no JSON", func(t *testing.T) {
		broken := new(zipper).zip(request)
		broken[len(broken)-1] ^= 1
		if got := string(answer(broken, double, &zipper{})); !strings.Contains(got, "Bad JSON Format") {
			t.Errorf("got %q", got)
		}
	})
}

// FuzzEnvelope expects a JSON answer to any request, and a plain one to an uncompressed request.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{"", "[]", "[[]]", "{}", "null",
		`[{"jsonrpc":"2.0","id":1,"method":"double","params":{"n":1}}]`, `{"id":"` + "\xff" + `"}`} {
		f.Add([]byte(seed))
		f.Add(new(zipper).zip([]byte(seed)))
	}
	var pressed zipper
	f.Fuzz(func(t *testing.T, request []byte) {
		got := answer(request, double, &pressed)
		if inside, zipped := unzip(got, 1<<30); zipped {
			got = inside
		}
		if !json.Valid(got) {
			t.Errorf("%q was answered with %q", request, got)
		}
	})
}

func TestRealNumbersLookLikeReals(t *testing.T) {
	for want, v := range map[string]real{
		"10.0": 10, "0.0": 0, "0.25": 0.25, "1e+21": 1e21, "1e+9999": real(inf(1)), "-1e+9999": real(inf(-1)),
		"null": real(inf(1) - inf(1)),
	} {
		if got := strings.TrimSpace(string(encode(v))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
