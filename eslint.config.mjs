import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['node_modules/', 'dist/', '.local/', 'coverage/', 'web/dist/', 'web/src/api/schema.gen.ts'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      // Lines of code are the formatter's matter.
      'max-len': ['error', { code: 1000, comments: 120, ignoreUrls: true }],
    },
  },
  ...tseslint.configs.strictTypeChecked.map((config) => ({
    ...config,
    files: ['{schemas,workflows,activities,workers,api,deploy,test}/**/*.ts'],
  })),
  {
    files: ['{schemas,workflows,activities,workers,api,deploy,test}/**/*.ts'],
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // What was caught, and a signal's reason, is thrown on as it is.
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingUnknown: true, allowThrowingAny: true },
      ],
      // With noUncheckedIndexedAccess it stands where the line before has looked.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Adapters are closures: no method has a `this` to lose.
      '@typescript-eslint/unbound-method': 'off',
      // A port's method is asynchronous also where an adapter has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      // Texts are spread on purpose: into characters instead of UTF-16 units.
      '@typescript-eslint/no-misused-spread': 'off',
      // What a callback or a replay changes, and what comes from outside, is not what the types say.
      '@typescript-eslint/no-unnecessary-condition': 'off',
    },
  },
  {
    // Tests read answers, and what `expect` matches, as `any`: the expectation is what says their form.
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
    },
  },
  {
    files: ['{deploy,test}/**/*.ts'],
    rules: {
      // Environments of processes, and the records of stand-ins, are plain objects.
      '@typescript-eslint/no-dynamic-delete': 'off',
      // A stand-in's handler answers and returns in one line, and `void` keeps a callback from answering.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // A message shows whatever came instead of what was expected.
      '@typescript-eslint/no-base-to-string': 'off',
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            ':matches(ObjectExpression, ArrayExpression) > SpreadElement > :matches(ObjectExpression, ArrayExpression)',
          message: 'Write what the literal holds where it is spread: lines are broken by the formatter.',
        },
        {
          selector: 'ArrayExpression > SpreadElement > TSAsExpression > ArrayExpression',
          message: 'Write what the literal holds where it is spread: lines are broken by the formatter.',
        },
        {
          selector:
            ':matches(Program, ExportNamedDeclaration) > VariableDeclaration > VariableDeclarator[id.typeAnnotation=undefined] > ArrowFunctionExpression.init',
          message: 'A named function of a module is a declaration, unless its type is named beside it.',
        },
      ],
    },
  },
  {
    // The launcher and the scripts in deploy/ write for people, and so do campaigns and benches.
    files: ['{schemas,workflows,activities,workers,api}/**/*.ts'],
    rules: { 'no-console': 'error' },
  },
  {
    // A function above it says why beside it.
    files: ['{schemas,workflows,activities,workers,api,deploy}/**/*.ts'],
    rules: { complexity: ['error', 15] },
  },
  {
    files: ['{schemas,workflows,activities,workers,api}/**/*.ts'],
    ignores: ['api/main.ts', 'workers/main.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Settings are read by the mains and handed down.' },
      ],
    },
  },
  {
    // Workflows are replayed: what a process or a machine says would differ the second time.
    files: ['workflows/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', 'process', 'Buffer'],
      'no-restricted-imports': ['error', { patterns: ['node:*'] }],
    },
  },
);
