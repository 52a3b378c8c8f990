<?php
// The OpenAPI description, served as /api/openapi.json by a rewrite.
declare(strict_types=1);
require __DIR__ . '/../../lib/api.php';

need_get();
header('Cache-Control: public, max-age=300');

$answers = fn (string $schema) => [
	'200' => ['description' => 'The article', 'content' => [
		'application/json' => ['schema' =>
		    ['$ref' => "#/components/schemas/$schema"]]]],
	'400' => ['$ref' => '#/components/responses/Error'],
	'404' => ['$ref' => '#/components/responses/Error'],
];
$lists = fn (string $name, string $schema) => [
	'200' => ['description' => 'What there is', 'content' => [
		'application/json' => ['schema' => ['type' => 'object',
		    'required' => [$name], 'properties' => [$name => [
		    'type' => 'array', 'items' =>
		    ['$ref' => "#/components/schemas/$schema"]]]]]]],
	'401' => ['$ref' => '#/components/responses/Error'],
	'403' => ['$ref' => '#/components/responses/Error'],
];
$sku = [['name' => 'sku', 'in' => 'query', 'required' => true,
    'description' => 'Article number, as on the product page',
    'schema' => ['type' => 'string', 'pattern' => '^[A-Z0-9-]{4,40}$'],
    'example' => 'TW-MUG1-SEA-1']];
$amount = ['type' => 'string', 'pattern' => '^[0-9]+\.[0-9]{2}$'];
$day = ['type' => ['string', 'null'], 'format' => 'date'];

answer(200, [
	'openapi' => '3.1.0',
	'info' => ['title' => 'Tidewell', 'version' => '1.1.0',
	    'description' => 'Stock and prices of the articles of the shop; ' .
	    'orders and addresses of a customer who signed the agent in.'],
	'servers' => [['url' => shop_url('/api')]],
	'paths' => [
		'/stock.php' => ['get' => ['operationId' => 'getStock',
		    'summary' => 'Pieces on the shelf and prices of an article',
		    'parameters' => $sku, 'responses' => $answers('Stock')]],
		'/reserved.php' => ['get' => ['operationId' => 'getReserved',
		    'summary' => 'Pieces in orders that have not been sent yet',
		    'parameters' => $sku,
		    'responses' => $answers('Reserved')]],
		'/orders.php' => ['get' => ['operationId' => 'getOrders',
		    'summary' => 'The customer\'s orders; needs poppy:read',
		    'responses' => $lists('orders', 'Order')]],
		'/addresses.php' => ['get' => ['operationId' => 'getAddresses',
		    'summary' => 'The customer\'s addresses; needs addresses',
		    'responses' => $lists('addresses', 'Address')]],
	],
	'components' => [
		'responses' => ['Error' => ['description' => 'Not possible',
		    'content' => ['application/json' => ['schema' =>
		    ['type' => 'object', 'required' => ['error'],
		    'properties' => ['error' => ['type' => 'string'],
		    'message' => ['type' => 'string']]]]]]],
		'schemas' => [
			'Stock' => ['type' => 'object',
			    'required' => ['sku', 'stock', 'price'],
			    'properties' => [
				'sku' => ['type' => 'string'],
				'name' => ['type' => 'string'],
				'colour' => ['type' => 'string'],
				'size' => ['type' => 'string'],
				'stock' => ['type' => 'integer', 'minimum' => 0],
				'in_stock' => ['type' => 'boolean'],
				'restock_on' => $day,
				'price' => ['type' => 'array', 'items' => [
				    'type' => 'object', 'properties' => [
					'amount' => $amount,
					'currency' => ['enum' => ['EUR', 'GBP']],
					'was' => ['type' => ['string', 'null']],
				    ]]],
				'url' => ['type' => 'string', 'format' => 'uri'],
			    ]],
			'Reserved' => ['type' => 'object',
			    'required' => ['sku', 'stock', 'reserved'],
			    'properties' => [
				'sku' => ['type' => 'string'],
				'stock' => ['type' => 'integer', 'minimum' => 0],
				'reserved' => ['type' => 'integer',
				    'minimum' => 0],
				'restock_on' => $day,
			    ]],
			'Order' => ['type' => 'object',
			    'required' => ['number', 'status', 'total'],
			    'properties' => [
				'number' => ['type' => 'integer'],
				'placed_on' => ['type' => 'string',
				    'format' => 'date'],
				'status' => ['enum' => ['placed', 'packed',
				    'sent', 'cancelled']],
				'total' => $amount,
				'currency' => ['enum' => ['EUR', 'GBP']],
				'tracking' => ['type' => ['string', 'null']],
			    ]],
			'Address' => ['type' => 'object',
			    'properties' => array_fill_keys(['name', 'street',
				'extra', 'postcode', 'city', 'country'],
				['type' => 'string']) +
				['usual' => ['type' => 'boolean']]],
		],
	],
]);
