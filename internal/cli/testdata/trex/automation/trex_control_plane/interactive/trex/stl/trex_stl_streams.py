"""Stands for TRex's library: the streams of a profile are what TRex v3.08 made of its own stl/imix.py, recorded."""
import importlib
import json
import os
import sys


class Stream:
    def __init__(self, text):
        self.text = text

    def get_name(self):
        return str(self.text["mode"]["rate"]["value"])

    def get_next(self):
        return None

    def to_json(self):
        return dict(self.text)


class STLProfile:
    def __init__(self, streams):
        self.streams = streams

    @staticmethod
    def load_py(path, direction=0, port_id=0):
        folder, name = os.path.split(path)
        sys.path.insert(0, folder)
        module = importlib.import_module(name[:-len(".py")])
        module.register(direction, port_id)
        with open(os.path.join(os.path.dirname(__file__), "imix_dir%d.json" % direction)) as recorded:
            return STLProfile([Stream(text) for text in json.load(recorded)])

    def get_streams(self):
        return self.streams
