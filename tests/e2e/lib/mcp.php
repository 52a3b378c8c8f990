<?php
// A minimal MCP server for the tests (Streamable HTTP, 2025-06-18): two tools,
// one of which needs a scope. What it knows of the caller is the guard's.
declare(strict_types=1);

const OBJECT = ['type' => 'object'];

function answer(int $status, ?array $body = null): never
{
	http_response_code($status);
	if ($body !== null) {
		header('Content-Type: application/json');
		echo json_encode($body, JSON_UNESCAPED_SLASHES), "\n";
	}
	exit;
}

function refuse(string $error, string $scope): never
{
	header("WWW-Authenticate: Bearer error=\"$error\", scope=\"$scope\"");
	answer(403, ['error' => $error, 'scope' => $scope]);
}

function need_scope(string $scope): void
{
	if (($_SERVER['POPPY_SIGNED_IN'] ?? '0') !== '1')
		refuse('sign_in_required', $scope);
	$has = explode(' ', $_SERVER['POPPY_SCOPE'] ?? '');
	if (!in_array($scope, $has, true))
		refuse('insufficient_scope', $scope);
}

function call_tool(string $name): array
{
	if ($name === 'order')
		need_scope('poppy:write');
	elseif ($name !== 'whoami')
		return ['isError' => true, 'content' => []];
	$vars = array_filter($_SERVER, fn ($k) =>
	    str_starts_with((string)$k, 'POPPY_'), ARRAY_FILTER_USE_KEY);
	return ['content' => [['type' => 'text',
	    'text' => json_encode($vars, JSON_UNESCAPED_SLASHES)]]];
}

function result(string $method, array $params): array
{
	return match ($method) {
		'initialize' => ['protocolVersion' => '2025-06-18',
		    'capabilities' => ['tools' => (object)[]],
		    'serverInfo' => ['name' => 'test', 'version' => '1']],
		'tools/list' => ['tools' => [
		    ['name' => 'whoami', 'inputSchema' => OBJECT],
		    ['name' => 'order', 'inputSchema' => OBJECT]]],
		'tools/call' => call_tool((string)($params['name'] ?? '')),
		default => answer(200, ['jsonrpc' => '2.0', 'id' => null,
		    'error' => ['code' => -32601,
		    'message' => 'no such method']]),
	};
}

if ($_SERVER['REQUEST_METHOD'] !== 'POST')
	answer(405);
$in = json_decode(file_get_contents('php://input'), true);
if (!is_array($in) || ($in['jsonrpc'] ?? '') !== '2.0')
	answer(400);
if (!isset($in['id']))		// a notification
	answer(202);
answer(200, ['jsonrpc' => '2.0', 'id' => $in['id'], 'result' =>
    result((string)($in['method'] ?? ''), (array)($in['params'] ?? []))]);
