// Reads pairs of X.csv and X.parquet with DuckDB, Polars and hyparquet: cell by cell they must agree.
//
//     node parquet.mjs LIST        a file with the paths of the .csv, a line each
//
// Prints `readers rows cells`; a line of standard error and exit 1 for what does not agree.
import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { parquetReadObjects, asyncBufferFromFile } from 'hyparquet'

import polars from 'nodejs-polars'

function parseCsv(text) {
  const rows = []
  let row = [], at = 0
  while (at < text.length) {
    let cell = ''
    if (text[at] === '"') {
      for (at++; ; at++) {
        const end = text.indexOf('"', at)
        cell += text.slice(at, end)
        at = end + 1
        if (text[at] !== '"') break
        cell += '"'
      }
    } else {
      const from = at
      while (text[at] !== ',' && text[at] !== '\n') at++
      cell = text.slice(from, at)
    }
    row.push(cell)
    if (text[at++] === '\n') { rows.push(row); row = [] }
  }
  return rows
}

function same(cell, value) {
  if (value === null || value === undefined) return cell === ''
  if (cell === '') return false
  if (typeof value === 'object' && 'nanos' in value) value = value.nanos
  if (typeof value === 'bigint') return /[.e]/.test(cell) ? BigInt(Number(cell)) === value : BigInt(cell) === value
  if (typeof value === 'number') return Number(cell) === value
  return cell === value
}

const connection = await (await DuckDBInstance.create(':memory:')).connect()

async function byDuckdb(path) {
  const reader = await connection.runAndReadAll(`select * from read_parquet('${path.replaceAll("'", "''")}', hive_partitioning = false)`)
  return { names: reader.columnNames(), columns: reader.getColumns() }
}

// What is a time since the epoch stays its nanoseconds.
const integers = (series, name) => name === 'timestamp_ns' && series.dtype.variant === 'Datetime' ? series.cast(polars.Int64) : series

function byPolars(path) {
  const frame = polars.readParquet(path)
  return { names: frame.columns, columns: frame.columns.map((name, i) => integers(frame.toSeries(i), name).toArray()) }
}

async function byHyparquet(path, names) {
  const parsers = { timestampFromNanoseconds: nanoseconds => nanoseconds }
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), parsers })
  return { names: rows.length ? Object.keys(rows[0]) : names, columns: names.map(name => rows.map(row => row[name])) }
}

let cells = 0, tables = 0, failed = 0
for (const path of readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)) {
  const [names, ...rows] = parseCsv(readFileSync(path, 'utf8'))
  const parquet = path.replace(/\.csv$/, '.parquet')
  const readers = { DuckDB: byDuckdb, Polars: byPolars, hyparquet: byHyparquet }
  for (const [reader, read] of Object.entries(readers)) {
    try {
      const shown = await read(parquet, names)
      // DuckDB tells names apart that differ in case alone.
      if (shown.names.length !== names.length || shown.columns.some(c => c.length !== rows.length))
        throw Error(`${shown.names.length} columns of ${shown.columns[0]?.length} rows, not ${names.length} of ${rows.length}`)
      for (let i = 0; i < names.length; i++)
        for (let k = 0; k < rows.length; k++)
          if (!same(rows[k][i], shown.columns[i][k]))
            throw Error(`row ${k} of ${names[i]}: ${shown.columns[i][k]}, not ${rows[k][i]}`)
    } catch (error) {
      failed++
      console.error(`${parquet}: ${reader}: ${error.message}`)
    }
  }
  tables++
  cells += names.length * rows.length
}
console.log(`DuckDB, Polars, hyparquet: ${tables} tables, ${cells} cells`)
process.exit(failed ? 1 : 0)
