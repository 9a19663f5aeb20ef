import { invalid } from '../../base/fault.ts'
import type { Scope } from '../process/process.ts'
import { findRequirement } from '../process/requirement.ts'
import type { Version } from '../process/version.ts'
import { isList, type Value } from '../values/value.ts'
import { valueText } from '../values/value-text.ts'
import type { ExpressionContext, Expressions } from './expressions.ts'
import { lookUp } from './parameter-reference.ts'
import { type Escapes, hasExpression, scan, type TextPiece } from './scan.ts'

/** How expressions are evaluated in a process: the port that runs JavaScript, and whether the process requires it. */
export interface Evaluator {
  readonly expressions: Expressions
  readonly escapes: Escapes
  /** Undefined without InlineJavascriptRequirement: only parameter references are allowed then. */
  readonly library: readonly string[] | undefined
}

export function evaluatorFor(expressions: Expressions, scope: Scope, version: Version): Evaluator {
  const requirement = findRequirement(scope, 'InlineJavascriptRequirement')
  const library = requirement?.expressionLib
  return {
    expressions,
    escapes: version < 12 ? 'before-v1.2' : 'since-v1.2',
    library: requirement && (isList(library) ? library.filter((one) => typeof one === 'string') : []),
  }
}

/**
 * Returns the value of a text: of the expression if the text is a single one, otherwise the text with each expression
 * replaced by its value. White space around a single expression is ignored, except in the contents of a file.
 */
export async function evaluate(source: string, context: ExpressionContext, evaluator: Evaluator): Promise<Value> {
  return evaluateAsIs(hasExpression(source) ? source.trim() : source, context, evaluator)
}

export async function evaluateAsIs(source: string, context: ExpressionContext, evaluator: Evaluator): Promise<Value> {
  if (!hasExpression(source)) return source
  const pieces = scan(source, evaluator.escapes)
  const [only] = pieces
  if (pieces.length === 1 && only !== undefined) return valueOfPiece(only, context, evaluator)
  const texts: string[] = []
  for (const piece of pieces) texts.push(valueText(await valueOfPiece(piece, context, evaluator)))
  return texts.join('')
}

async function valueOfPiece(
  piece: TextPiece,
  context: ExpressionContext,
  { library, expressions }: Evaluator,
): Promise<Value> {
  if ('text' in piece) return piece.text
  const looked = piece.isBody ? undefined : lookUp(piece.code, context)
  if (looked !== undefined && 'value' in looked) return looked.value
  if (library !== undefined) return expressions.run({ code: piece.code, isBody: piece.isBody, library, context })
  const written = piece.isBody ? `\${${piece.code}}` : `$(${piece.code})`
  throw invalid(
    looked === undefined
      ? `${written} is JavaScript, but InlineJavascriptRequirement is not there`
      : `${written} cannot be looked up: ${looked.trouble}`,
  )
}

/** Returns the text that an expression must evaluate to; null stays null. */
export async function evaluateText(
  source: string,
  context: ExpressionContext,
  evaluator: Evaluator,
): Promise<string | null> {
  const value = await evaluate(source, context, evaluator)
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return valueText(value)
  throw invalid(`${source} must give text`)
}
