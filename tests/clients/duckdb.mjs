// Runs SQL in DuckDB and prints the rows of each query, all as one line of JSON.
//
//     node duckdb.mjs QUERY…
//
// With -csv or -c before the last QUERY, its rows as lines, as the shell of that name prints them.
import { DuckDBInstance } from '@duckdb/node-api'

const words = process.argv.slice(2)
const queries = words.filter(word => !word.startsWith('-'))
const connection = await (await DuckDBInstance.create(':memory:')).connect()
const results = []
for (const query of queries) {
  const reader = await connection.runAndReadAll(query)
  results.push({ names: reader.columnNames(), rows: reader.getRowsJson() })
}
if (queries.length < words.length)
  for (const { names, rows } of results)
    console.log([names, ...rows].map(row => row.join(',')).join('\n'))
else
  console.log(JSON.stringify(results.map(({ rows }) => rows)))
