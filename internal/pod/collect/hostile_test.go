package collect

import (
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/intake/intaketest"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// A Prometheus server or a management controller that is hostile fills no collector's memory, by whichever of
// its answers.
func TestAnswersThatWereMadeToFillACollectorsMemoryAreRefused(t *testing.T) {
	sources := map[string]struct {
		begin, end string
		open       func(url string) (source, error)
	}{
		"Prometheus": {`{"status":"success","data":{"resultType":"vector","result":[`, `]}}`,
			func(url string) (source, error) {
				return newPrometheus(plan.PrometheusQuery{URL: url, Query: "up"}, secret{})
			}},
		"Redfish": {`{"Members":[`, `]}`, func(url string) (source,
			error) {
			return newRedfish(plan.RedfishChassis{URL: url}, secret{})
		}},
	}
	for kind, c := range sources {
		answers := intaketest.Bombs(mostAnswer-1<<10, c.begin, c.end)
		answers["endless"] = ""
		for name, answer := range answers {
			t.Run(kind+" "+name, func(t *testing.T) {
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					for _, err := io.WriteString(w, answer); name == "endless" && err == nil; _,
						err = io.WriteString(w, strings.Repeat("x", 64<<10)) {
					}
				}))
				t.Cleanup(s.Close)
				asks, err := c.open(s.URL)
				if err != nil {
					t.Fatal(err)
				}
				allocated := intaketest.Allocated(func() { _, err = asks.ask(t.Context()) })
				if err == nil || allocated > 64<<20 {
					t.Errorf("%v, and reading it takes %d bytes", err, allocated)
				}
			})
		}
	}
}

// All sensors have one name. Naming them must not take the square of their number, or its cube.
func TestAControllerWithThousandsOfSensorsOfOneNameIsAnswered(t *testing.T) {
	temperatures := sensors{name: "temperature"}
	reading := 20.0
	for range 16 << 10 {
		temperatures.add("CPU", status{}, &reading)
	}
	temperatures.add("CPU (2)", status{}, &reading)
	named := map[string]bool{}
	for _, n := range temperatures.numbers {
		if named[n.Part] {
			t.Fatalf("two are called %s", n.Part)
		}
		named[n.Part] = true
	}
	if temperatures.numbers[0].Part != "CPU" || temperatures.numbers[1].Part != "CPU (2)" ||
		temperatures.numbers[16<<10-1].Part != fmt.Sprintf("CPU (%d)", 16<<10) {
		t.Errorf("they are called %q, %q and %q", temperatures.numbers[0].Part, temperatures.numbers[1].Part,
			temperatures.numbers[16<<10-1].Part)
	}
}

// An agent may send a number as text. A number of a million digits, by its length or its exponent, takes
// seconds to compute with.
func TestANumberOfAMillionDigitsIsNone(t *testing.T) {
	for text, want := range map[string]string{
		"54.5": "109/2", "-3": "-3", "1e3": "1000", "+0.25": "1/4", ".5": "1/2", "": "", ".": "", "1e999999": "",
		"1e-999999": "", "0x1p999999": "", "1/3": "", "1_000": "", "NaN": "", "Inf": "",
		strings.Repeat("9", 100_000): "", "1e9999": "",
	} {
		number, ok := decimal(text)
		if ok != (want != "") || ok && number.Cmp(rat(want)) != 0 {
			t.Errorf("%.20q is %v, %v; want %q", text, number, ok, want)
		}
	}
}

func rat(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text)
	return r
}
