import type { Process, Scope } from './process.ts'
import { findRequirement } from './requirement.ts'

/** Whether anything in it may run JavaScript: the machine for that takes a while to start, and most tools do without. */
export function needsJavaScript(process: Process): boolean {
  const asks = (scope: Scope): boolean => findRequirement(scope, 'InlineJavascriptRequirement') !== undefined
  if (asks(process)) return true
  return process.class === 'Workflow' && process.steps.some((step) => asks(step) || needsJavaScript(step.run))
}
