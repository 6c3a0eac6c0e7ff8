"""Where jobs run: in this process, its threads, several processes, or a Ray cluster."""

from bitwright.workers.who import MAX_PROCESSES, Workers, cores, in_threads

__all__ = ["MAX_PROCESSES", "Workers", "cores", "in_threads"]
