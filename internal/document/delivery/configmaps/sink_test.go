package configmaps_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/delivery/configmaps"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// server keeps ConfigMaps as an API server does: with resource versions, field managers, immutability, dry runs,
// and bad days.
type server struct {
	mutex   sync.Mutex
	stored  map[string]*corev1.ConfigMap
	version int
	asked   int
	writes  []time.Duration
	begin   time.Time
	down    bool // refuses everything
	deny    bool // knows nobody who may write
	deaf    bool // takes what is written, and its answer is lost
	unfit   bool // has a policy that finds each document Invalid
	slow    time.Duration
	before  func() // is called before each request
}

func newServer() *server {
	return &server{stored: map[string]*corev1.ConfigMap{}, begin: time.Now()}
}

var errAway = errors.New("connection refused")

func (s *server) Create(ctx context.Context, next *corev1.ConfigMap, o metav1.CreateOptions) (*corev1.ConfigMap, error) {
	return s.write(ctx, next, o.FieldManager, o.DryRun, func(_ *corev1.ConfigMap, found bool) error {
		if found {
			return apierrors.NewAlreadyExists(schema.GroupResource{Resource: "configmaps"}, next.Name)
		}
		return nil
	})
}

func (s *server) Update(ctx context.Context, next *corev1.ConfigMap, o metav1.UpdateOptions) (*corev1.ConfigMap, error) {
	return s.write(ctx, next, o.FieldManager, o.DryRun, func(current *corev1.ConfigMap, found bool) error { return refusal(next, current, found) })
}

// refusal is why an update isn't taken.
func refusal(next, current *corev1.ConfigMap, found bool) error {
	switch {
	case !found:
		return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, next.Name)
	case next.ResourceVersion != "" && next.ResourceVersion != current.ResourceVersion:
		return apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, next.Name, errors.New("changed"))
	}
	if current.Immutable == nil || !*current.Immutable {
		return nil
	}
	var fields field.ErrorList
	if next.Immutable == nil || !*next.Immutable {
		fields = append(fields, field.Forbidden(field.NewPath("immutable"), "field is immutable when `immutable` is set"))
	}
	if !reflect.DeepEqual(next.BinaryData, current.BinaryData) {
		fields = append(fields, field.Forbidden(field.NewPath("binaryData"), "field is immutable when `immutable` is set"))
	}
	if len(fields) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, next.Name, fields)
	}
	return nil
}

// write stores what isn't refused, or says what it would store.
func (s *server) write(ctx context.Context, next *corev1.ConfigMap, manager string, dryRun []string,
	refused func(current *corev1.ConfigMap, found bool) error) (*corev1.ConfigMap, error) {
	if s.before != nil {
		s.before()
	}
	if s.slow > 0 {
		select {
		case <-time.After(s.slow):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.asked++
	current, found := s.stored[next.Name]
	switch {
	case s.down:
		return nil, errAway
	case s.deny:
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, next.Name, errAway)
	default:
		if err := refused(current, found); err != nil {
			return nil, err
		}
	}
	if s.unfit {
		err := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, next.Name, nil)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "a Report is report.json.gz"}}
		return nil, err
	}
	kept := next.DeepCopy()
	kept.ManagedFields = managed(current, manager)
	if len(dryRun) == 0 {
		s.version++
		s.writes = append(s.writes, time.Since(s.begin))
		kept.ResourceVersion = strconv.Itoa(100 + s.version)
		s.stored[next.Name] = kept
	} else if found {
		kept.ResourceVersion = current.ResourceVersion
	}
	if s.deaf {
		return nil, errAway
	}
	return kept.DeepCopy(), nil
}

// managed is who owns fields of a document that somebody replaces: who made it, as its labels stay, and who
// replaces it, as its content changes.
func managed(current *corev1.ConfigMap, manager string) []metav1.ManagedFieldsEntry {
	by := []metav1.ManagedFieldsEntry{{Manager: manager}}
	if current == nil || current.ManagedFields[0].Manager == manager {
		return by
	}
	return append(current.ManagedFields[:1:1], by...)
}

func (s *server) set(change func(*server)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change(s)
}

func (s *server) progress(t *testing.T) delivery.Progress {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	p, err := delivery.DecodeProgress(s.stored["t-progress"].Data)
	if err != nil || p == nil {
		t.Fatalf("progress %v, %v", p, err)
	}
	return *p
}

func (s *server) report(t *testing.T) (*report.Report, delivery.Envelope) {
	t.Helper()
	cm := s.stored["t-report"]
	r, e, err := delivery.DecodeReport(cm.BinaryData, cm.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	if immutable := cm.Immutable != nil && *cm.Immutable; immutable != e.Final {
		t.Errorf("final %v, immutable %v", e.Final, immutable)
	}
	return r, e
}

func claim(t *testing.T, s *server, uid string) *configmaps.Sink {
	t.Helper()
	sink, err := configmaps.Claim(t.Context(), options(s, uid))
	if err != nil {
		t.Fatal(err)
	}
	return sink
}

func options(s *server, uid string) configmaps.Options {
	return configmaps.Options{Client: s, Progress: document("t-progress"), Report: document("t-report"), Attempt: 1,
		Successor: func(run int) metav1.ObjectMeta { return document(fmt.Sprintf("t-run-%d", run)) }, Pod: "pod-" + uid, UID: uid}
}

// document is what a run says of one of its documents.
func document(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{"run": "t"}, OwnerReferences: []metav1.OwnerReference{{Kind: "ConfigMap", Name: "t-plan", UID: "p"}}}
}

func aReport(message string) *report.Report {
	return &report.Report{Version: report.Version, Plan: &plan.Plan{Version: plan.Version}, Ending: report.Completed, Message: message}
}

// keep runs Keep until stop is called, which returns its error.
func keep(ctx context.Context, sink *configmaps.Sink) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- sink.Keep(ctx) }()
	return func() error { cancel(); return <-done }
}

func TestARunOfAMinute(t *testing.T) {
	var s *server
	synctest.Test(t, func(t *testing.T) {
		s = newServer()
		sink := claim(t, s, "a")
		stop := keep(t.Context(), sink)
		phases := []string{"Preparing", "ProvingPath", "Listening", "WarmUp", "Ramping", "Refining", "Confirming", "Holding", "Draining", "Ended"}
		for second := range 60 {
			sink.Post(delivery.Progress{Phase: phases[second/6], Percent: second})
			time.Sleep(time.Second)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if err := sink.Finish(t.Context(), aReport(""), true); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("the run takes at most seven requests", func(t *testing.T) {
		if s.asked > 7 {
			t.Errorf("%d requests: writes at %v", s.asked, s.writes)
		}
	})
	t.Run("the run writes no Progress within 10 s of another", func(t *testing.T) {
		for i := range len(s.writes) - 3 { // the last two are the end's
			if gap := s.writes[i+1] - s.writes[i]; gap < 10*time.Second {
				t.Errorf("%s between writes at %v", gap, s.writes)
			}
		}
	})
	t.Run("the run ends with the last Progress and the Report", func(t *testing.T) {
		if p := s.progress(t); p.Percent != 59 || p.Phase != "Ended" || p.Run != 1 || p.RunnerUID != "a" {
			t.Errorf("got %+v", p)
		}
		if _, e := s.report(t); !e.Final || e.Attempt != 1 {
			t.Errorf("got %+v", e)
		}
	})
}

func TestWhoComesFirstMakesTheDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		sink := claim(t, s, "a")
		if s.asked != 1 {
			t.Errorf("the claim took %d requests", s.asked)
		}
		if err := sink.Finish(t.Context(), aReport("x"), true); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"t-progress", "t-report"} {
			if made, want := s.stored[name], document(name); made == nil || !maps.Equal(made.Labels, want.Labels) || !slices.Equal(made.OwnerReferences, want.OwnerReferences) {
				t.Errorf("%s was made as %+v", name, made)
			}
		}
	})
}

func TestAnAPIServerThatIsAway(t *testing.T) {
	t.Run("the runner waits for it at the start", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			s.down = true
			go func() { time.Sleep(30 * time.Second); s.set(func(s *server) { s.down = false }) }()
			claim(t, s, "a")
		})
	})
	t.Run("the runner finds its own claim when the answer is lost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			s.deaf = true
			go func() { time.Sleep(time.Second); s.set(func(s *server) { s.deaf = false }) }()
			if f := claim(t, s, "a").First(); f.Run != 1 || len(f.LostRuns) != 0 {
				t.Errorf("it claimed as %+v", f)
			}
		})
	})
	t.Run("a longer absence than the time left is an error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			s.down = true
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := configmaps.Claim(ctx, options(s, "a")); !errors.Is(err, errAway) {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("an absence mid-run loses nothing and holds nobody up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			sink := claim(t, s, "a")
			stop := keep(t.Context(), sink)
			s.set(func(s *server) { s.down = true })
			for second := range 30 {
				before := time.Now()
				sink.Post(delivery.Progress{Phase: "Ramping", Percent: second})
				if time.Since(before) != 0 {
					t.Error("telling took time")
				}
				time.Sleep(time.Second)
			}
			s.set(func(s *server) { s.down = false })
			time.Sleep(11 * time.Second)
			if p := s.progress(t); p.Percent != 29 {
				t.Errorf("after the outage: %+v", p)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("the server gets the Report when it is back at the end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			sink := claim(t, s, "a")
			sink.Post(delivery.Progress{Phase: "Ended"})
			s.set(func(s *server) { s.down = true })
			go func() { time.Sleep(5 * time.Minute); s.set(func(s *server) { s.down = false }) }()
			if err := sink.Finish(t.Context(), aReport("kept"), true); err != nil {
				t.Fatal(err)
			}
			if r, _ := s.report(t); r.Message != "kept" {
				t.Errorf("got %+v", r)
			}
		})
	})
	t.Run("a server whose answers get lost is written to once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			sink := claim(t, s, "a")
			sink.Post(delivery.Progress{Phase: "Ended"})
			s.set(func(s *server) { s.deaf = true })
			go func() { time.Sleep(time.Second); s.set(func(s *server) { s.deaf = false }) }()
			if err := sink.Finish(t.Context(), aReport("kept"), true); err != nil {
				t.Fatal(err)
			}
			if p := s.progress(t); p.Phase != "Ended" {
				t.Errorf("got %+v", p)
			}
			s.report(t)
		})
	})
	t.Run("requests do not pile up on a server that answers slowly", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			sink := claim(t, s, "a")
			s.set(func(s *server) { s.slow = time.Minute })
			stop := keep(t.Context(), sink)
			for second := range 120 {
				sink.Post(delivery.Progress{Phase: fmt.Sprint(second)})
				time.Sleep(time.Second)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
			if s.asked != 1 {
				t.Errorf("%d requests were answered, beyond the claim's", s.asked)
			}
		})
	})
}

func TestAnotherRunner(t *testing.T) {
	t.Run("a second runner fences the first, which writes no Report", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			first := claim(t, s, "a")
			stop := keep(t.Context(), first)
			first.Post(delivery.Progress{Phase: "Ramping", Percent: 42})
			time.Sleep(11 * time.Second)
			second := claim(t, s, "b")
			if f := second.First(); f.Run != 2 || len(f.LostRuns) != 1 {
				t.Errorf("the second claimed as %+v", f)
			}
			first.Post(delivery.Progress{Phase: "Holding"})
			time.Sleep(10 * time.Second)
			if err := stop(); !errors.Is(err, delivery.ErrFenced) {
				t.Errorf("the first one's Keep ended with %v", err)
			}
			if err := first.Finish(t.Context(), aReport("of the first"), true); !errors.Is(err, delivery.ErrFenced) {
				t.Errorf("the first one's Finish ended with %v", err)
			}
			if s.stored["t-report"] != nil {
				t.Error("a fenced runner wrote a Report")
			}
			second.Post(delivery.Progress{Phase: "Ended"})
			if err := second.Finish(t.Context(), aReport("of the second"), true); err != nil {
				t.Fatal(err)
			}
			if p := s.progress(t); p.RunnerUID != "b" || p.Run != 2 || len(p.LostRuns) != 1 {
				t.Errorf("got %+v", p)
			}
		})
	})
	t.Run("a second runner finds nothing to do where a final Report stands", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			if err := claim(t, s, "a").Finish(t.Context(), aReport(""), true); err != nil {
				t.Fatal(err)
			}
			if _, err := configmaps.Claim(t.Context(), options(s, "b")); !errors.Is(err, configmaps.ErrReported) {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("a second runner goes on from a Report that isn't final", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			if err := claim(t, s, "a").Finish(t.Context(), aReport("partial"), false); err != nil {
				t.Fatal(err)
			}
			if err := claim(t, s, "b").Finish(t.Context(), aReport("whole"), true); err != nil {
				t.Fatal(err)
			}
			if r, e := s.report(t); r.Message != "whole" || !e.Final {
				t.Errorf("got %+v in %+v", r, e)
			}
		})
	})
	t.Run("a person with a runner's annotation changes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			sink := claim(t, s, "a")
			s.stored["t-progress"].Annotations["note"], s.stored["t-progress"].ResourceVersion = "x", "7"
			stop := keep(t.Context(), sink)
			sink.Post(delivery.Progress{Phase: "Ramping"})
			time.Sleep(11 * time.Second)
			if err := stop(); err != nil {
				t.Error(err)
			}
			if p := s.progress(t); p.Phase != "Ramping" || p.Run != 1 {
				t.Errorf("got %+v", p)
			}
		})
	})
	t.Run("a runner obeys the test's end when the ConfigMap is gone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			sink := claim(t, s, "a")
			delete(s.stored, "t-progress")
			stop := keep(t.Context(), sink)
			sink.Post(delivery.Progress{Phase: "Ramping"})
			time.Sleep(11 * time.Second)
			if err := stop(); !errors.Is(err, delivery.ErrFenced) {
				t.Errorf("got %v", err)
			}
		})
	})
}
