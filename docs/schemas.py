"""Write the JSON Schemas of a bench beside this file again: `make schemas`."""

from pathlib import Path

from videoautoarena.runs.bench.format.schema import write_schemas

if __name__ == "__main__":
    write_schemas(Path(__file__).parent)
