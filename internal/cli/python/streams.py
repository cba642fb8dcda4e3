"""Prints the streams that a profile of TRex's makes for ports 0 and 1, as JSON. Arguments: TRex's folder of its Python
library, that of its external libraries, and the profile."""
import json
import os
import resource
import sys

# Before any code of others runs: what neither it nor its children can raise again.
for limit, value in ((resource.RLIMIT_AS, 2 << 30), (resource.RLIMIT_CPU, 50), (resource.RLIMIT_NOFILE, 256),
                     (resource.RLIMIT_NPROC, 256), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
    resource.setrlimit(limit, (value, value))

library, external, profile = sys.argv[1:4]
answer = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what the profile prints
os.environ["TREX_EXT_LIBS"] = external
sys.path.insert(0, library)
sys.dont_write_bytecode = True

from trex.stl.trex_stl_streams import STLProfile  # noqa: E402

ports = []
for port in (0, 1):
    streams = STLProfile.load_py(profile, direction=port, port_id=port).get_streams()
    places = {stream.get_name(): place for place, stream in enumerate(streams, 1)}
    ports.append([])
    for stream in streams:
        text = stream.to_json()
        text["next_stream_id"] = places[stream.get_next()] if stream.get_next() else -1
        ports[-1].append(text)
json.dump(ports, answer)
answer.close()
