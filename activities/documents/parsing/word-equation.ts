/** An element of an equation (Office MathML, ECMA-376 part 1, section 22.1). */
interface MathNode {
  name: string;
  value: string | undefined;
  text: string;
  children: MathNode[];
}

const MAX_DEPTH = 200;

/** An equation as a line: fractions with a stroke, exponents with `^`. Text stays as it is escaped in the XML. */
export function lineUpEquation(xml: string): string {
  return inLine(readNodes(xml), 0).replace(/\s+/g, ' ').trim();
}

function readNodes(xml: string): MathNode[] {
  const root: MathNode = { name: '', value: undefined, text: '', children: [] };
  const stack = [root];
  for (const [, close, name, attributes = '', empty, text] of xml.matchAll(
    /<(\/?)([\w:.-]+)((?:\s[^<>]*?)?)(\/?)>|([^<]+)/g,
  )) {
    if (name === undefined) stack.at(-1)!.text += text ?? '';
    else if (close !== '') {
      if (stack.length > 1) stack.pop();
    } else {
      const value = /m:val\s*=\s*"([^"]*)"/.exec(attributes)?.[1];
      const node: MathNode = { name: name.replace(/^m:/, ''), value, text: '', children: [] };
      stack.at(-1)!.children.push(node);
      if (empty === '') stack.push(node);
    }
  }
  return root.children;
}

function inLine(nodes: readonly MathNode[], depth: number): string {
  return depth > MAX_DEPTH ? '' : nodes.map((node) => show(node, depth + 1)).join('');
}

function show(node: MathNode, depth: number): string {
  const child = (name: string): MathNode | undefined => node.children.find((one) => one.name === name);
  const part = (name: string): string => inLine(child(name)?.children ?? [], depth).trim();
  const option = (name: string, otherwise: string): string =>
    child(`${node.name}Pr`)?.children.find((one) => one.name === name)?.value ?? otherwise;
  const raised = (sign: string, text: string): string => (text === '' ? '' : sign + bracketed(text));
  switch (node.name) {
    case 't':
    case 'w:t':
      return node.text;
    case 'f':
      return `${bracketed(part('num'))}/${bracketed(part('den'))}`;
    case 'sSup':
    case 'sSub':
    case 'sSubSup':
      return bracketed(part('e')) + raised('_', part('sub')) + raised('^', part('sup'));
    case 'rad':
      return `${part('deg')}√${bracketed(part('e'))}`;
    case 'nary':
      return `${option('chr', '∫')}${raised('_', part('sub'))}${raised('^', part('sup'))} ${part('e')}`;
    case 'd': {
      const parts = node.children.filter(({ name }) => name === 'e').map((e) => inLine(e.children, depth));
      return option('begChr', '(') + parts.join(option('sepChr', '|')) + option('endChr', ')');
    }
    case 'func':
      return `${part('fName')} ${part('e')}`;
    case 'm':
      return `[${node.children
        .filter(({ name }) => name === 'mr')
        .map((row) => row.children.map((cell) => inLine(cell.children, depth)).join(', '))
        .join('; ')}]`;
    default:
      return node.name.endsWith('Pr') ? '' : inLine(node.children, depth);
  }
}

function bracketed(text: string): string {
  return /^(?:[\p{L}\p{N}.]*|&[#\w]+;)$/u.test(text) ? text : `(${text})`;
}
