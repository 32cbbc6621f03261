// Runs SQL in DuckDB and prints the rows of each query, all as one line of JSON.
//
//     node duckdb.mjs QUERY…
import { DuckDBInstance } from '@duckdb/node-api'

const connection = await (await DuckDBInstance.create(':memory:')).connect()
const results = []
for (const query of process.argv.slice(2)) {
  const reader = await connection.runAndReadAll(query)
  results.push(reader.getRowsJson())
}
console.log(JSON.stringify(results))
