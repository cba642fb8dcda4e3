package inventory

import (
	"container/list"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
)

// Memory in bytes of a compiled test without templates, and of all compiled tests together.
const (
	compiledBytes = 8 << 10
	maxCompiled   = 32 << 20
)

// compiledTests are the most recently used tests, compiled, or their errors. A test is compiled once for each
// generation of its spec as long as there is memory for it. Errors are kept, too, since a test that can't be
// compiled costs as much.
type compiledTests struct {
	compile func(*v1alpha1.LoadTest) compile.Compiled

	mu       sync.Mutex
	elements map[types.UID]*list.Element
	recent   list.List // of *compiledTest, the most recently used first
	bytes    int64
}

// compiledTest is the compilation of one generation of a test.
type compiledTest struct {
	uid    types.UID
	source compiledFrom
	bytes  int64
	// compileOnce guards result. The first request compiles, and only requests for the same test wait.
	compileOnce sync.Once
	result      compile.Compiled
}

// compiledFrom is everything in a test that its compilation depends on and that may change.
type compiledFrom struct {
	generation        int64
	product, loadtest string // labels
}

func newCompiledTests(bounds compile.Bounds) *compiledTests {
	return &compiledTests{elements: map[types.UID]*list.Element{},
		compile: func(test *v1alpha1.LoadTest) (c compile.Compiled) {
			c.Cluster, c.Errs = bounds.ForCluster(test)
			return c
		}}
}

// get is the compiled test. A request for another test doesn't wait for its compilation.
func (c *compiledTests) get(test *v1alpha1.LoadTest) *compile.Compiled {
	t := c.entry(test)
	t.compileOnce.Do(func() { t.result = c.compile(test) })
	return &t.result
}

// entry is the place of a test's compilation. It is new if there is none of this generation. A test without a
// generation comes from no API server, and its compilation isn't kept.
func (c *compiledTests) entry(test *v1alpha1.LoadTest) *compiledTest {
	source := compiledFrom{test.Generation, test.Labels[v1alpha1.LabelProduct], test.Labels[v1alpha1.LabelLoadTest]}
	if test.Generation == 0 {
		return &compiledTest{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if element := c.elements[test.UID]; element != nil {
		if t := element.Value.(*compiledTest); t.source == source {
			c.recent.MoveToFront(element)
			return t
		}
		c.drop(element)
	}
	t := &compiledTest{uid: test.UID, source: source, bytes: compiledBytes + test.Spec.FreeformMemory()}
	c.elements[test.UID] = c.recent.PushFront(t)
	for c.bytes += t.bytes; c.bytes > maxCompiled && c.recent.Len() > 1; {
		c.drop(c.recent.Back())
	}
	return t
}

func (c *compiledTests) drop(e *list.Element) {
	t := c.recent.Remove(e).(*compiledTest)
	delete(c.elements, t.uid)
	c.bytes -= t.bytes
}

// forget drops a deleted test.
func (c *compiledTests) forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.elements[uid]; e != nil {
		c.drop(e)
	}
}
