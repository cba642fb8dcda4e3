package kubectl

import (
	"errors"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/exit"
)

// absent is the error for a name without an object.
type absent string

func (a absent) Error() string { return string(a) }

// notFound is bad input whose error is absent.
func notFound(format string, args ...any) error {
	return exit.BadInput("%w", absent(fmt.Sprintf(format, args...)))
}

// isAbsent reports whether an error is that no object has the name.
func isAbsent(err error) bool {
	_, ok := errors.AsType[absent](err)
	return ok
}
