package kubectl

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// stage is a server that does at each look what it is told: an error, or a list of one test, whose watch ends after a while.
type stage struct {
	looks []error // nil: there is the test
	after error   // what comes when all of them are over
	lasts time.Duration
	at    []time.Duration // when it was asked
	begun time.Time
}

func (s *stage) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	s.at = append(s.at, time.Since(s.begun))
	err := s.after
	if len(s.looks) > 0 {
		err, s.looks = s.looks[0], s.looks[1:]
	}
	if err != nil {
		return err
	}
	tests, ok := list.(*v1alpha1.LoadTestList)
	if !ok {
		return errors.New("not LoadTests")
	}
	tests.ResourceVersion, tests.Items = "7", []v1alpha1.LoadTest{{ObjectMeta: metav1.ObjectMeta{Name: "t"}}}
	return nil
}

func (s *stage) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	w := watch.NewRaceFreeFake()
	time.AfterFunc(s.lasts, w.Stop)
	return w, nil
}

func refused() error {
	return &url.Error{Op: "Get", URL: "https://lab", Err: errors.New("connection refused")}
}

func forbidden() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "loadtests"}, "t", errors.New("no"))
}

func TestSight(t *testing.T) {
	minute := time.Minute
	for _, c := range []struct {
		name  string
		stage stage
		tells []string // the words' beginnings
		ends  string
		until time.Duration // the end is not before; 0: at once
	}{
		{"a server that never answered is given up at once", stage{after: refused()}, nil, "connection refused", 0},
		{"one that refuses is given up at once", stage{after: forbidden()}, nil, "forbidden", 0},
		{"one that says that it is busy is asked again", stage{looks: []error{apierrors.NewServiceUnavailable("starting"), nil}, after: forbidden()},
			[]string{"the API server doesn't answer ("}, "forbidden", afterReturn},
		{"one that has answered is waited for as long as patience has it", stage{looks: []error{nil}, after: refused()},
			[]string{"the API server doesn't answer ("}, "connection refused", 10 * minute},
		{"one that comes back is told of", stage{looks: []error{nil, refused(), refused(), refused(), refused(), nil}, after: forbidden()},
			[]string{"the API server doesn't answer (", "the API server answers again", "the API server doesn't answer ("}, "forbidden", afterReturn},
		{"rights that a server has forgotten for a moment are waited for", stage{looks: []error{nil, forbidden(), forbidden(), nil}, after: refused()},
			[]string{"the API server doesn't answer (", "the API server answers again", "the API server doesn't answer ("}, "connection refused", 10 * minute},
		{"a version that is too old is no outage", stage{looks: []error{nil, apierrors.NewResourceExpired("old"), nil}, after: forbidden()},
			[]string{"the API server doesn't answer ("}, "forbidden", afterReturn},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := c.stage
				s.begun, s.lasts = time.Now(), 5*time.Second
				var told []string
				seen := 0
				err := (&objectWatch{source: &s, list: &v1alpha1.LoadTestList{}, patience: 10 * minute,
					seen: func(client.Object) { seen++ }, tell: func(words string) { told = append(told, words) }}).run(t.Context())
				if err == nil || !strings.Contains(err.Error(), c.ends) || time.Since(s.begun) < c.until || c.until == 0 && time.Since(s.begun) > 0 {
					t.Errorf("it ends after %v with %v", time.Since(s.begun), err)
				}
				if !slices.EqualFunc(told, c.tells, strings.HasPrefix) {
					t.Errorf("it tells %q", told)
				}
				for i := 1; i < len(s.at); i++ {
					if gap := s.at[i] - s.at[i-1]; gap < firstPause || gap > longPause+s.lasts {
						t.Errorf("asked at %v", s.at)
					}
				}
			})
		})
	}
}

func TestAnObjectThatGoes(t *testing.T) {
	gone := 0
	s := &objectWatch{source: &stage{}, list: &v1alpha1.LoadTestList{}, seen: func(client.Object) {}, gone: func() { gone++ }}
	if err := s.handle(watch.Event{Type: watch.Deleted, Object: &v1alpha1.LoadTest{}}); !errors.Is(err, errGone) || gone != 1 {
		t.Errorf("%v, %d", err, gone)
	}
	s.gone = nil
	if err := s.handle(watch.Event{Type: watch.Deleted, Object: &v1alpha1.LoadTest{}}); err != nil {
		t.Errorf("what may still come ends with %v", err)
	}
}
