package kubectl

import "reflect"

// Documents has the types of the JSON documents of this package, by their kind and version, for their schemas.
func Documents() map[string]reflect.Type {
	return map[string]reflect.Type{listVersion: reflect.TypeFor[listing](),
		diagnosisVersion: reflect.TypeFor[diagnosis]()}
}
