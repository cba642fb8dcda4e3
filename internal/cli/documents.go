package cli

import (
	"reflect"

	"github.com/linerate-dev/linerate/internal/cli/qualify"
)

// Documents has the types of the JSON documents of this package, by their kind and version, for their schemas.
func Documents() map[string]reflect.Type {
	return map[string]reflect.Type{
		verificationsVersion: reflect.TypeFor[verifications](), iperf3Version: reflect.TypeFor[iperf3Document](),
		qualify.Version: reflect.TypeFor[qualify.Document](),
	}
}
