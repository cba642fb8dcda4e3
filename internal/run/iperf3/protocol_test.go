package iperf3

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// The parameters are as version 3.12 writes them.
func TestParametersOfIperf3(t *testing.T) {
	for name, c := range map[string]struct {
		document string
		want     Test
	}{
		"TCP": {`{"tcp":true,"omit":0,"time":10,"num":0,"blockcount":0,"parallel":1,"len":131072,"pacing_timer":1000,"client_version":"3.12"}`,
			Test{Protocol: TCP, Flow: Forward, Duration: 10 * time.Second, Parallel: 1, MessageBytes: 131072,
				short: true}},
		"all of TCP": {`{"tcp":true,"omit":3,"time":30,"num":0,"blockcount":0,"MSS":1400,"nodelay":true,"parallel":4,"bidirectional":true,"window":262144,"len":65536,"bandwidth":50000000,"fqrate":1000000,"TOS":32,"congestion":"cubic","client_version":"3.12"}`,
			Test{Protocol: TCP, Flow: Bidirectional, Omit: 3 * time.Second, Duration: 30 * time.Second,
				SegmentBytes: 1400, NoDelay: true, Parallel: 4, WindowBytes: 262144, MessageBytes: 65536,
				BitsPerSecond: 50000000, pacing: 1000000, TOS: 32, CongestionControl: "cubic", short: true}},
		"UDP in reverse": {`{"udp":true,"omit":0,"time":1,"num":0,"blockcount":0,"parallel":2,"reverse":true,"len":1448,"bandwidth":1048576,"udp_counters_64bit":1}`,
			Test{Protocol: UDP, Flow: Reverse, Duration: time.Second, Parallel: 2, MessageBytes: 1448,
				BitsPerSecond: 1 << 20}},
		"until so many bytes": {`{"tcp":true,"omit":0,"time":0,"num":1e15,"blockcount":0,"parallel":1}`,
			Test{Protocol: TCP, Flow: Forward, Parallel: 1, MessageBytes: 131072, short: true, endless: true}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := parseParameters([]byte(c.document))
			if err != nil || got != c.want {
				t.Errorf("%v\n%+v, want\n%+v", err, got, c.want)
			}
		})
	}
}

func TestParametersThatCantBe(t *testing.T) {
	for name, c := range map[string]struct{ document, want string }{
		"no JSON":             {`hello`, "the test's parameters"},
		"a number as words":   {`{"time":"ten"}`, "cannot unmarshal"},
		"half a stream":       {`{"time":1,"parallel":1.5}`, "1.5 is no count"},
		"no stream":           {`{"time":1,"parallel":-1}`, "-1 parallel streams: use 1 to 128"},
		"too many streams":    {`{"time":1,"parallel":129}`, "129 parallel streams: use 1 to 128"},
		"an endless message":  {`{"time":1,"len":2147483648}`, "TCP takes 1 to 1048576"},
		"too short datagrams": {`{"udp":true,"time":1,"len":8}`, "UDP takes 12 to 65507"},
		"too long a test":     {`{"time":86401}`, "use whole seconds, 1s to 24h0m0s"},
		"a negative time":     {`{"time":-1}`, "use whole seconds"},
		"a negative omit":     {`{"time":1,"omit":-1}`, "omit -1s"},
		"SCTP":                {`{"sctp":true,"time":1}`, "protocol SCTP: use TCP or UDP"},
		"two flows": {`{"time":1,"reverse":true,"bidirectional":true}`,
			"flow both reverse and bidirectional"},
		"a negative rate":  {`{"time":1,"bandwidth":-5}`, "bits per second"},
		"a window of a TB": {`{"time":1,"window":1099511627776}`, "a window of"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := parseParameters([]byte(c.document))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A server of ours reads the parameters of a client of ours unchanged.
func TestParametersComeBack(t *testing.T) {
	for _, want := range []Test{
		{Protocol: TCP, Flow: Bidirectional, Duration: time.Minute, Omit: time.Second, Parallel: 128, MessageBytes: 1,
			WindowBytes: 4096, CongestionControl: "reno", SegmentBytes: 536, NoDelay: true, TOS: 8, short: true},
		{Protocol: UDP, Flow: Reverse, Duration: time.Second, Parallel: 1, MessageBytes: 1460, BitsPerSecond: 1e9},
	} {
		document, err := json.Marshal(want.parameters())
		if err != nil {
			t.Fatal(err)
		}
		if got, client, err := parseParameters(document); err != nil || got != want || client != "linerate" {
			t.Errorf("%v, %s\n%+v, want\n%+v", err, client, got, want)
		}
	}
}

const whole = `{"cpu_util_total":1.5,"cpu_util_user":1,"cpu_util_system":0.5,"sender_has_retransmits":1,"congestion_used":"cubic","streams":[` +
	`{"id":1,"bytes":1000,"retransmits":2,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.000012},` +
	`{"id":3,"bytes":1e+3,"retransmits":0,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.000012}]}`

func TestResultsOfIperf3(t *testing.T) {
	reported, summary, err := parseResults([]byte(whole), []int{1, 3})
	if err != nil || len(reported) != 2 || *reported[3].Bytes != 1000 || summary.Congestion != "cubic" ||
		summary.HasRetransmits != 1 || reported[1].lasted() != 1000012*time.Microsecond {
		t.Errorf("%v: %+v, %+v", err, reported, summary)
	}
}

func TestResultsThatLackASideAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text, replacement string
		want              error
	}{
		"half of it":                 {whole[100:], "", ErrProtocol},
		"a stream is missing":        {`"id":3`, `"id":4`, ErrIncomplete},
		"a stream is there twice":    {`"id":3`, `"id":1`, ErrProtocol},
		"a stream without a number":  {`"id":3,`, ``, ErrProtocol},
		"no stream":                  {whole[strings.Index(whole, "["):], `[]}`, ErrIncomplete},
		"no member for streams":      {`"streams"`, `"strands"`, ErrIncomplete},
		"no bytes":                   {`"bytes":1000,`, ``, ErrIncomplete},
		"no packets":                 {`"packets":0,`, ``, ErrIncomplete},
		"no times, as of iperf3 3.1": {`,"start_time":0,"end_time":1.000012`, ``, ErrIncomplete},
		"fewer bytes than none":      {`"bytes":1000`, `"bytes":-1`, ErrProtocol},
		"it ends before it began":    {`"end_time":1.000012`, `"end_time":-1`, ErrProtocol},
		"it lasted for years":        {`"end_time":1.000012`, `"end_time":1e9`, ErrProtocol},
		"half of what was omitted":   {`"packets":0`, `"packets":5,"omitted_packets":2`, ErrProtocol},
		"more omitted than there were": {`"packets":0`, `"packets":5,"omitted_packets":6,"omitted_errors":0`,
			ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			document := strings.Replace(whole, c.text, c.replacement, 1)
			if document == whole {
				t.Fatal("nothing was changed")
			}
			if _, _, err := parseResults([]byte(document), []int{1, 3}); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

func TestCookies(t *testing.T) {
	if a, b := newCookie(), newCookie(); !isCookie(a) || bytes.Equal(a, b) {
		t.Errorf("%q and %q", a, b)
	}
	for name, b := range map[string][]byte{
		"of iperf 2: its first bytes are flags and zeros": make([]byte, cookieBytes),
		"of a browser": []byte("GET / HTTP/1.1\r\nHost: 10.0.0.1:5201\r\n")[:cookieBytes],
		"too short":    []byte("abc\x00"),
	} {
		if isCookie(b) {
			t.Errorf("%s: %q is taken for a cookie", name, b)
		}
	}
}

func TestStreamsHaveIperf3sNumbers(t *testing.T) {
	for n, want := range []int{1, 3, 4, 5} {
		if got := streamID(n); got != want {
			t.Errorf("stream %d has the number %d, want %d", n, got, want)
		}
	}
}

func FuzzParameters(f *testing.F) {
	f.Add([]byte(`{"tcp":true,"omit":3,"time":30,"MSS":1400,"nodelay":1,"parallel":4,"bidirectional":true,"window":262144,"len":65536,"bandwidth":5e7,"congestion":"cubic"}`))
	f.Add([]byte(`{"udp":true,"time":0,"num":1e300}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		test, _, err := parseParameters(document)
		if err == nil && (test.check() != nil || test != test.withDefaults()) {
			t.Errorf("%s was taken: %+v", document, test)
		}
	})
}

func FuzzResults(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{"streams":[{"id":1},{"id":3}]}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		reported, _, err := parseResults(document, []int{1, 3})
		if err != nil {
			return
		}
		for _, id := range []int{1, 3} {
			if s, ok := reported[id]; !ok || *s.Bytes < 0 || s.lasted() < 0 {
				t.Errorf("%s was taken", document)
			}
		}
	})
}
