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

	"github.com/linerate-dev/linerate/internal/pause"
)

// The times of a server that is away. Rights and kinds may be unknown to a server that has just come back: what it refuses then is asked again.
const (
	firstPause  = time.Second
	longPause   = 15 * time.Second
	afterReturn = 30 * time.Second
)

// errGone says that the object isn't there.
var errGone = errors.New("it is not there")

// source is what is watched by; client.WithWatch is one.
type source interface {
	List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error
	Watch(ctx context.Context, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error)
}

// sight keeps one object in sight, or several that are chosen by their labels, whatever becomes of connections and servers:
//
//	look ──▶ watch ──connection ends──▶ look ──▶ watch ──▶ …
//	  └─error─▶ pause 1 s, 2 s, … 15 s ─▶ look, for as long as patience has it
type sight struct {
	source   source
	at       client.ObjectKey
	list     client.ObjectList     // an empty one of the kind; it is read into a copy
	patience time.Duration         // how long a server may be away
	chosen   client.ListOption     // instead of the one object that at names; nil: that one
	all      func([]client.Object) // takes what a look finds; nil: seen does
	seen     func(client.Object)
	lost     func(client.Object) // one of several is gone; nil: that is nobody's business
	gone     func()              // nil: an object that isn't there may still come
	tell     func(words string)  // nil: outages are nobody's business
}

// keep returns when the context ends, the object is gone, or the server refuses or is away for longer than patience has it.
func (s *sight) keep(ctx context.Context) error {
	var outage outage
	for {
		begun := time.Now()
		err := s.once(ctx, func() { outage.over(s.say) })
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errGone):
			return err
		case err == nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			err = nil
			if pause.For(ctx, firstPause-time.Since(begun)) != nil {
				err = ctx.Err()
			}
		default:
			err = outage.bear(ctx, begun, err, s.patience, s.say)
		}
		if err != nil {
			return err
		}
	}
}

func (s *sight) say(words string) {
	if s.tell != nil {
		s.tell(words)
	}
}

// once looks, and then watches until the connection ends. The server has answered when it answers the look.
func (s *sight) once(ctx context.Context, answered func()) error {
	version, err := s.look(ctx, answered)
	if err != nil {
		return err
	}
	return s.watch(ctx, version)
}

func (s *sight) only(version string) []client.ListOption {
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

func (s *sight) empty() client.ObjectList { return s.list.DeepCopyObject().(client.ObjectList) }

func (s *sight) look(ctx context.Context, answered func()) (version string, err error) {
	list := s.empty()
	if err := s.source.List(ctx, list, s.only("")...); err != nil {
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

// take takes what a look found.
func (s *sight) take(items []runtime.Object) {
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

func (s *sight) watch(ctx context.Context, version string) error {
	w, err := s.source.Watch(ctx, s.empty(), s.only(version)...)
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
			if err := s.happened(event); err != nil {
				return err
			}
		}
	}
}

func (s *sight) happened(event watch.Event) error {
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
	answered bool // it has done so before
	since    time.Time
	wait     time.Duration
	told     bool
}

// over ends it.
func (o *outage) over(tell func(string)) {
	if o.told {
		tell("the API server answers again")
	}
	*o = outage{answered: true}
}

// bear waits before the next try, after one that began then and failed; it returns the error where waiting is of no use, or has been long enough.
func (o *outage) bear(ctx context.Context, begun time.Time, err error, patience time.Duration, tell func(string)) error {
	if o.since.IsZero() {
		o.since, o.wait = begun, firstPause
	}
	if time.Since(o.since) >= o.longest(err, patience) {
		return err
	}
	if !o.told && time.Since(o.since) >= firstPause {
		o.told = true
		tell(fmt.Sprintf("the API server doesn't answer (%v): trying again for up to %v; the test goes on without it", err, patience))
	}
	if pause.For(ctx, o.wait) != nil {
		return ctx.Err()
	}
	o.wait = min(2*o.wait, longPause)
	return nil
}

// longest is how long such an error may last.
func (o *outage) longest(err error, patience time.Duration) time.Duration {
	_, answered := errors.AsType[*apierrors.StatusError](err)
	switch {
	case !answered && (unreachable(err) || o.answered):
		return o.unlessNew(patience)
	case overburdened(err):
		return patience
	case o.answered:
		return min(afterReturn, patience)
	}
	return 0
}

// unlessNew is no time at all for a server that has never answered: its address is wrong, more likely than not.
func (o *outage) unlessNew(patience time.Duration) time.Duration {
	if !o.answered {
		return 0
	}
	return patience
}
