"""Files through DuckDB, the embedded engine: CSV, TSV, Parquet, JSON lines, Arrow, Excel; packed or not, any size.

To read it in order: `names` (which files, of which format), `engine` (DuckDB and its errors), `csv_text` and the
readers (`csv_reader`, `json_reader`, `typed_readers`, `excel_reader`), `source` (the files as one table).
"""

from strat.data.files.engine import MEMORY, Progress, connect, quoted
from strat.data.files.names import FORMATS, once
from strat.data.files.source import FileSource, open_files

__all__ = ["FORMATS", "MEMORY", "FileSource", "Progress", "connect", "once", "open_files", "quoted"]
