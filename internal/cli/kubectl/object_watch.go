package kubectl

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// The times of a server that is away. Rights and kinds may be unknown to a server that has just come back: what it refuses then is asked again.
const (
	firstPause  = time.Second
	longPause   = 15 * time.Second
	afterReturn = 30 * time.Second
)

// errGone says that the object isn't there.
var errGone = errors.New("it is not there")

// source is how objects are listed and watched; client.WithWatch is one.
type source interface {
	List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error
	Watch(ctx context.Context, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error)
}

// objectWatch follows one object, or several that are chosen by their labels, across broken connections and outages of the server:
//
//	list ──▶ watch ──connection ends──▶ list ──▶ watch ──▶ …
//	  └─error─▶ pause 1 s, 2 s, … 15 s ─▶ list, until patience is over
type objectWatch struct {
	source   source
	at       client.ObjectKey
	list     client.ObjectList     // an empty one of the kind; it is read into a copy
	patience time.Duration         // how long a server may be away
	chosen   client.ListOption     // instead of the one object that at names; nil: that one
	all      func([]client.Object) // takes what a list has; nil: seen takes each
	seen     func(client.Object)
	lost     func(client.Object) // one of several was deleted; nil: that doesn't matter
	gone     func()              // the one object was deleted, or doesn't exist; nil: it may still be created
	tell     func(words string)  // an outage began or ended; nil: that doesn't matter
}

// run returns when the context ends, the object is gone, the server refuses, or an outage is longer than patience.
func (s *objectWatch) run(ctx context.Context) error {
	var outage outage
	for {
		begun := time.Now()
		err := s.once(ctx, func() { outage.end(s.say) })
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errGone):
			return err
		case err == nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			err = nil
			if bounded.Pause(ctx, firstPause-time.Since(begun)) != nil {
				err = ctx.Err()
			}
		default:
			err = outage.wait(ctx, begun, err, s.patience, s.say)
		}
		if err != nil {
			return err
		}
	}
}

func (s *objectWatch) say(words string) {
	if s.tell != nil {
		s.tell(words)
	}
}

// once lists, and then watches until the connection ends. It calls answered once the list is there.
func (s *objectWatch) once(ctx context.Context, answered func()) error {
	version, err := s.readAll(ctx, answered)
	if err != nil {
		return err
	}
	return s.watch(ctx, version)
}

func (s *objectWatch) options(version string) []client.ListOption {
	var chosen client.ListOption = client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(metav1.ObjectNameField, s.at.Name)}
	if s.chosen != nil {
		chosen = s.chosen
	}
	return []client.ListOption{
		client.InNamespace(s.at.Namespace),
		chosen,
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: version != ""}},
	}
}

func (s *objectWatch) empty() client.ObjectList { return s.list.DeepCopyObject().(client.ObjectList) }

func (s *objectWatch) readAll(ctx context.Context, answered func()) (version string, err error) {
	list := s.empty()
	if err := s.source.List(ctx, list, s.options("")...); err != nil {
		return "", err
	}
	answered()
	items, err := meta.ExtractList(list)
	if err != nil {
		return "", err
	}
	if len(items) == 0 && s.gone != nil {
		s.gone()
		return "", errGone
	}
	s.take(items)
	return list.GetResourceVersion(), nil
}

// take passes on what a list has.
func (s *objectWatch) take(items []runtime.Object) {
	var objects []client.Object
	for _, item := range items {
		if o, ok := item.(client.Object); ok {
			objects = append(objects, o)
		}
	}
	if s.all != nil {
		s.all(objects)
		return
	}
	for _, o := range objects {
		s.seen(o)
	}
}

func (s *objectWatch) watch(ctx context.Context, version string) error {
	w, err := s.source.Watch(ctx, s.empty(), s.options(version)...)
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-w.ResultChan():
			if !open {
				return nil
			}
			if err := s.handle(event); err != nil {
				return err
			}
		}
	}
}

func (s *objectWatch) handle(event watch.Event) error {
	o, _ := event.Object.(client.Object)
	switch event.Type {
	case watch.Error:
		return apierrors.FromObject(event.Object)
	case watch.Added, watch.Modified:
		s.seen(o)
	case watch.Bookmark:
	case watch.Deleted:
		if s.gone != nil {
			s.gone()
			return errGone
		}
		if s.lost != nil && o != nil {
			s.lost(o)
		}
	}
	return nil
}

// outage is the time during which a server doesn't answer as it should.
type outage struct {
	answered bool // the server answered at least once
	since    time.Time
	pause    time.Duration // before the next try
	told     bool
}

// end ends it.
func (o *outage) end(tell func(string)) {
	if o.told {
		tell("the API server answers again")
	}
	*o = outage{answered: true}
}

// wait waits before the next try, after one that began at begun and failed; it returns the error if waiting is of no use, or was long enough.
func (o *outage) wait(ctx context.Context, begun time.Time, err error, patience time.Duration, tell func(string)) error {
	if o.since.IsZero() {
		o.since, o.pause = begun, firstPause
	}
	if time.Since(o.since) >= o.longest(err, patience) {
		return err
	}
	if !o.told && time.Since(o.since) >= firstPause {
		o.told = true
		tell(fmt.Sprintf("the API server doesn't answer (%v): trying again for up to %v; the test goes on without it", err, patience))
	}
	if bounded.Pause(ctx, o.pause) != nil {
		return ctx.Err()
	}
	o.pause = min(2*o.pause, longPause)
	return nil
}

// longest is how long this error may last before it counts.
func (o *outage) longest(err error, patience time.Duration) time.Duration {
	_, answered := errors.AsType[*apierrors.StatusError](err)
	switch {
	case !answered && (unreachable(err) || o.answered):
		return o.ifItAnsweredBefore(patience)
	case overloaded(err):
		return patience
	case o.answered:
		return min(afterReturn, patience)
	}
	return 0
}

// ifItAnsweredBefore returns patience for a server that answered once; one that never did has a wrong address, most likely, and gets no time at all.
func (o *outage) ifItAnsweredBefore(patience time.Duration) time.Duration {
	if !o.answered {
		return 0
	}
	return patience
}
