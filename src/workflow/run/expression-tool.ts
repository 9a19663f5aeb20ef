import { invalid } from '../../base/fault.ts'
import { matchesOutput } from '../binding/match-type.ts'
import { type Evaluator, evaluate } from '../expressions/evaluate.ts'
import { typeText } from '../process/cwl-type.ts'
import type { ExpressionTool } from '../process/process.ts'
import { type DataValue, mapData, withNames } from '../values/file-value.ts'
import { describeValue, field, isRecord, type Value, type ValueRecord } from '../values/value.ts'

/** Evaluates an ExpressionTool in this process: it is one expression, and never becomes a task. */
export async function runExpressionTool(
  tool: ExpressionTool,
  inputs: ValueRecord,
  evaluator: Evaluator,
): Promise<ValueRecord> {
  const value = await evaluate(tool.expression, { inputs, self: null, runtime: {} }, evaluator)
  if (!isRecord(value)) throw invalid(`the expression must give a record of outputs, not ${describeValue(value)}`)
  const outputs = tool.outputs.map((output): [string, Value] => {
    const made = mapData(field(value, output.name) ?? null, named)
    if (!matchesOutput(output.type, made)) {
      throw invalid(`the output ${output.name} must be ${typeText(output.type)}, not ${describeValue(made)}`)
    }
    return [output.name, made]
  })
  return Object.fromEntries(outputs)
}

const named = (data: DataValue): DataValue => {
  const { path: _, dirname: __, ...rest } = data
  return withNames(rest as DataValue)
}
